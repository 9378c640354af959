/** Sample: an example request to an operation, without its scope. */
export interface Sample {
  readonly params?: { readonly [name: string]: string };
  readonly query?: { readonly [name: string]: string };
  readonly body?: unknown;
}
