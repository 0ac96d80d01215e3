import type { Entry, FileChange, WatchLine } from "@torpor/contract";
import { createError } from "./errors.ts";
import { linesOf } from "./lines.ts";
import { refuseUnknown } from "./refuse-unknown.ts";
import { type Transport, toError } from "./transport.ts";

export interface AsUser {
  /** Default root. */
  readonly user?: string;
}

/** Files of a sandbox. Contents are streams of bytes in both directions. */
export class FileClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  async read(id: string, path: string, options: AsUser = {}): Promise<{ entry: Entry; content: AsyncIterable<Uint8Array> }> {
    refuseUnknown(options, { user: true });
    const answer = await this.#transport.call("readFile", { params: { id }, query: { path, ...options } });
    const entry = JSON.parse(decodeURIComponent(String(answer.headers["x-torpor-entry"]))) as Entry;
    return { entry, content: answer };
  }

  /** Writes a whole file, atomically. `mode` as a number, such as 0o644. */
  async write(
    id: string,
    path: string,
    upload: AsyncIterable<Uint8Array>,
    options: AsUser & { mode?: number; parents?: boolean } = {},
  ): Promise<Entry> {
    refuseUnknown(options, { user: true, mode: true, parents: true });
    return this.#transport.json("writeFile", { params: { id }, query: { path, ...options, mode: options.mode?.toString(8) }, upload });
  }

  async stat(id: string, path: string, options: AsUser & { follow?: boolean } = {}): Promise<Entry> {
    refuseUnknown(options, { user: true, follow: true });
    return this.#transport.json("statFile", { params: { id }, query: { path, ...options } });
  }

  async list(id: string, path: string, options: AsUser & { depth?: number } = {}): Promise<Entry[]> {
    refuseUnknown(options, { user: true, depth: true });
    return (await this.#transport.json<{ entries: Entry[] }>("listFiles", { params: { id }, query: { path, ...options } })).entries;
  }

  /**
   * What happens to a file or in a directory. Resolves once it watches: from then on nothing is missed. Iterating ends with the signal, and throws when the
   * path is gone or the sandbox is paused or ends.
   */
  async watch(
    id: string,
    path: string,
    options: { readonly recursive?: boolean; readonly signal?: AbortSignal } = {},
  ): Promise<AsyncGenerator<FileChange>> {
    refuseUnknown(options, { recursive: true, signal: true });
    const { signal, ...query } = options;
    const request = { params: { id }, query: { path, ...query }, ...(signal === undefined ? {} : { signal }) };
    const changes = changesOf(await this.#transport.call("watchFiles", request), signal);
    // The first line, which is none of the changes.
    await changes.next();
    return changes as AsyncGenerator<FileChange>;
  }

  makeDirectory(id: string, body: AsUser & { path: string; parents?: boolean; mode?: number }): Promise<Entry> {
    return this.#transport.json("makeDirectory", { params: { id }, body });
  }

  move(id: string, body: AsUser & { from: string; to: string }): Promise<Entry> {
    return this.#transport.json("moveFile", { params: { id }, body });
  }

  async remove(id: string, path: string, options: AsUser & { recursive?: boolean } = {}): Promise<void> {
    refuseUnknown(options, { user: true, recursive: true });
    return this.#transport.json("removeFile", { params: { id }, query: { path, ...options } });
  }

  /** A tar stream of a file or directory. One that breaks off throws. */
  async readArchive(id: string, path: string, options: AsUser & { follow?: boolean } = {}): Promise<AsyncIterable<Uint8Array>> {
    refuseUnknown(options, { user: true, follow: true });
    return this.#transport.call("readArchive", { params: { id }, query: { path, ...options } });
  }

  /** Unpacks a tar stream under a directory. */
  async writeArchive(
    id: string,
    path: string,
    upload: AsyncIterable<Uint8Array>,
    options: AsUser = {},
  ): Promise<{ files: number; bytes: number }> {
    refuseUnknown(options, { user: true });
    return this.#transport.json("writeArchive", { params: { id }, query: { path, ...options }, upload });
  }
}

/** First undefined, when it watches. */
async function* changesOf(answer: AsyncIterable<Uint8Array>, signal: AbortSignal | undefined): AsyncGenerator<FileChange | undefined> {
  try {
    for await (const text of linesOf(answer)) {
      const line = JSON.parse(text) as WatchLine;
      if ("watching" in line) yield undefined;
      else if ("change" in line) yield line.change;
      else if ("error" in line) throw toError(line.error as Parameters<typeof toError>[0]);
    }
  } catch (error) {
    if (signal?.aborted === true) return;
    throw error;
  }
  if (signal?.aborted !== true)
    throw createError("connection_lost", "the connection to torpord broke off, and the watch with it", {
      hint: "Watch anew, and look what changed.",
    });
}
