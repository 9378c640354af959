/** The part of autocannon that is used; it has no types of its own. */
declare module "autocannon" {
  export interface CannonRequest {
    readonly method?: string;
    readonly path?: string;
    readonly body?: string;
    readonly setupRequest?: (request: CannonRequest) => CannonRequest;
  }
  export interface CannonOptions {
    readonly url: string;
    readonly connections: number;
    readonly duration: number;
    readonly headers?: { readonly [name: string]: string };
    readonly requests: readonly CannonRequest[];
  }
  export interface CannonResult {
    readonly "2xx": number;
    readonly non2xx: number;
    readonly errors: number;
    readonly timeouts: number;
    readonly duration: number;
    readonly statusCodeStats?: { readonly [status: string]: { readonly count: number } };
    readonly latency: { readonly p50: number; readonly p97_5: number; readonly p99: number };
  }
  export default function autocannon(options: CannonOptions): Promise<CannonResult>;
}
