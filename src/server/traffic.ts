/** Traffic: requests by route and status, for /metrics. Labels hold route patterns, never a path with names in it. */
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { AdmissionControl } from "./admission-control.js";

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

export class Traffic {
  readonly #requests: Counter<"route" | "status">;
  readonly #seconds: Histogram<"route">;

  constructor(admission: AdmissionControl, registry: Registry) {
    const registers = [registry];
    this.#requests = new Counter({
      name: "holdfast_http_requests_total",
      help: "Requests answered, by route and status.",
      labelNames: ["route", "status"],
      registers,
    });
    this.#seconds = new Histogram({
      name: "holdfast_http_request_duration_seconds",
      help: "Time from request to response, by route.",
      labelNames: ["route"],
      buckets: SECONDS,
      registers,
    });
    const inside: Gauge = new Gauge({
      name: "holdfast_http_requests_in_progress",
      help: "Requests in progress.",
      registers,
      collect: () => inside.set(admission.inFlight),
    });
    const refused: Gauge = new Gauge({
      name: "holdfast_http_requests_turned_away",
      help: "Requests refused for overload (429, 503) since the start.",
      registers,
      collect: () => refused.set(admission.refused),
    });
  }

  answered(route: string, status: number, ms: number): void {
    this.#requests.inc({ route, status });
    this.#seconds.observe({ route }, ms / 1000);
  }
}
