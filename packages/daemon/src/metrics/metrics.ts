import { type NodeStats, type Operation, type Sandbox, SandboxState } from "@torpor/contract";
import { Counter, Gauge, Histogram, Registry } from "prom-client";

/** What is asked when somebody scrapes. */
export interface Measured {
  sandboxes(): Promise<readonly Sandbox[]>;
  pool(): Promise<NodeStats["pool"]>;
}

export type EndedOperation = Pick<Operation, "kind" | "status" | "startedAt" | "endedAt">;

/** Figures for Prometheus. Labels are of closed sets: no id, name, address or path of anybody. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #operations = new Histogram({
    name: "torpor_operation_seconds",
    help: "Time from the begin to the end of operations.",
    labelNames: ["kind", "outcome"],
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300],
    registers: [this.#registry],
  });
  readonly #requests = new Histogram({
    name: "torpor_http_request_seconds",
    help: "Time until HTTP requests were answered; streams until their end.",
    labelNames: ["method", "route", "status"],
    buckets: [0.005, 0.05, 0.5, 5, 60],
    registers: [this.#registry],
  });
  readonly #sockets = new Gauge({
    name: "torpor_session_sockets",
    help: "Clients that are attached to sessions now.",
    registers: [this.#registry],
  });
  readonly #failedScrapes = new Counter({
    name: "torpor_failed_measurements_total",
    help: "Figures that could not be read when they were asked for.",
    labelNames: ["figure"],
    registers: [this.#registry],
  });
  readonly #sandboxes = new Gauge({
    name: "torpor_sandboxes",
    help: "Sandboxes by state.",
    labelNames: ["state"],
    registers: [this.#registry],
  });
  readonly #held = new Gauge({
    name: "torpor_sandboxes_held",
    help: "Running sandboxes that are held since the pool is full.",
    registers: [this.#registry],
  });
  readonly #pool = new Gauge({ name: "torpor_pool_bytes", help: "Bytes of the pool.", labelNames: ["kind"], registers: [this.#registry] });

  get contentType(): string {
    return this.#registry.contentType;
  }

  operationEnded({ kind, status, startedAt, endedAt }: EndedOperation): void {
    if (endedAt === null) return;
    this.#operations.observe({ kind, outcome: status }, Math.max(0, Date.parse(endedAt) - Date.parse(startedAt)) / 1000);
  }

  /** `route` is the pattern, not the path. */
  requestEnded(method: string, route: string | undefined, status: number, ms: number): void {
    this.#requests.observe({ method, route: route ?? "unknown", status: `${Math.floor(status / 100)}xx` }, ms / 1000);
  }

  socketOpened(): void {
    this.#sockets.inc();
  }

  socketClosed(): void {
    this.#sockets.dec();
  }

  /** In the text format. A figure that can't be had is left out, and counted. */
  async scrape({ sandboxes, pool }: Measured): Promise<string> {
    await Promise.all([
      this.#measure("sandboxes", async () => this.#countStates(await sandboxes())),
      this.#measure("pool", async () => {
        const { sizeBytes, freeBytes } = await pool();
        this.#pool.set({ kind: "size" }, sizeBytes);
        this.#pool.set({ kind: "free" }, freeBytes);
      }),
    ]);
    return this.#registry.metrics();
  }

  #countStates(sandboxes: readonly Sandbox[]): void {
    for (const state of SandboxState.options) {
      this.#sandboxes.set({ state }, sandboxes.filter((sandbox) => sandbox.state === state).length);
    }
    this.#held.set(sandboxes.filter(({ held }) => held != null).length);
  }

  async #measure(figure: string, measure: () => Promise<void>): Promise<void> {
    await measure().catch(() => {
      this.#failedScrapes.inc({ figure });
      for (const gauge of figure === "pool" ? [this.#pool] : [this.#sandboxes, this.#held]) gauge.reset();
    });
  }
}
