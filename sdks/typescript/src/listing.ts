import type { SandboxFilter } from "./call-options.ts";
import type { TorporClient } from "./client.ts";
import { Sandbox } from "./sandbox.ts";

const pageSize = 200;

/** Sandboxes, oldest first: awaited it is a list of them all; iterated they come a page at a time. */
export class SandboxListing implements AsyncIterable<Sandbox>, PromiseLike<Sandbox[]> {
  readonly #client: TorporClient;
  readonly #filter: SandboxFilter;

  constructor(client: TorporClient, filter: SandboxFilter) {
    this.#client = client;
    this.#filter = filter;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Sandbox> {
    let after: string | null = "";
    while (after !== null) {
      const page = await this.#client.page(this.#filter, { limit: pageSize, ...(after === "" ? {} : { after }) });
      for (const record of page.sandboxes) yield new Sandbox(this.#client, record);
      after = page.next;
    }
  }

  // biome-ignore lint/suspicious/noThenProperty: `await torpor.list()` is the list.
  then<A = Sandbox[], B = never>(
    onFulfilled?: ((sandboxes: Sandbox[]) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): PromiseLike<A | B> {
    return this.#all().then(onFulfilled, onRejected);
  }

  async #all(): Promise<Sandbox[]> {
    const sandboxes: Sandbox[] = [];
    for await (const sandbox of this) sandboxes.push(sandbox);
    return sandboxes;
  }
}
