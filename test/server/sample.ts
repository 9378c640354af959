/** Sample: what a request to an operation says, beside its scope. */
export interface Sample {
  readonly params?: { readonly [name: string]: string };
  readonly query?: { readonly [name: string]: string };
  readonly body?: unknown;
}
