import type { Entry, FileChange } from "@torpor/contract";
import { TorporError } from "@torpor/contract/error";
import { bytesOf, type Content, joined } from "./bytes.ts";
import type { TorporClient } from "./client.ts";
import { createError } from "./errors.ts";
import type { AsUser } from "./file-client.ts";
import { refuseUnknown } from "./refuse-unknown.ts";
import { waking } from "./waking.ts";

export interface ReadFileOptions extends AsUser {
  /** Default text. */
  readonly as?: "text" | "bytes" | "stream";
  /** Of text that is not UTF-8: an error, which is the default, or U+FFFD in place of what is none. */
  readonly invalid?: "error" | "replace";
}

/** Files of a sandbox. Relative paths start at its working directory. */
export class SandboxFiles {
  readonly #client: TorporClient;
  readonly #id: string;

  constructor(client: TorporClient, id: string) {
    this.#client = client;
    this.#id = id;
  }

  read(path: string, options?: ReadFileOptions & { readonly as?: "text" }): Promise<string>;
  read(path: string, options: ReadFileOptions & { readonly as: "bytes" }): Promise<Uint8Array>;
  read(path: string, options: ReadFileOptions & { readonly as: "stream" }): Promise<ReadableStream<Uint8Array>>;
  async read(path: string, options: ReadFileOptions = {}) {
    refuseUnknown(options, { user: true, as: true, invalid: true });
    const { as = "text", invalid = "error", ...user } = options;
    const { content } = await waking(() => this.#client.files.read(this.#id, path, user));
    if (as === "stream") return streamOf(content);
    const chunks: Uint8Array[] = [];
    for await (const chunk of content) chunks.push(chunk);
    return as === "bytes" ? joined(chunks) : textOf(joined(chunks), path, invalid);
  }

  /** A whole file, atomically: whoever reads it meanwhile has the old one. `mode` as a number, such as 0o600. */
  write(path: string, content: Content, options: AsUser & { readonly mode?: number; readonly parents?: boolean } = {}): Promise<Entry> {
    return this.#client.files.write(this.#id, path, bytesOf(content), options);
  }

  stat(path: string, options: AsUser & { readonly follow?: boolean } = {}): Promise<Entry> {
    return waking(() => this.#client.files.stat(this.#id, path, options));
  }

  async exists(path: string, options: AsUser = {}): Promise<boolean> {
    refuseUnknown(options, { user: true });
    try {
      await this.stat(path, { ...options, follow: false });
      return true;
    } catch (error) {
      if (error instanceof TorporError && error.code === "file_not_found") return false;
      throw error;
    }
  }

  /** A directory's entries; with `depth` those of directories in it too. */
  list(path: string, options: AsUser & { readonly depth?: number } = {}): Promise<Entry[]> {
    return waking(() => this.#client.files.list(this.#id, path, options));
  }

  /**
   * What happens to a file or in a directory: `for await (const { change, path } of await sandbox.files.watch("/src", { recursive: true }))`.
   * Once it resolves nothing is missed. It ends with the signal, and throws when the path is gone or the sandbox is paused or ends.
   */
  watch(path: string, options: { readonly recursive?: boolean; readonly signal?: AbortSignal } = {}): Promise<AsyncGenerator<FileChange>> {
    return waking(() => this.#client.files.watch(this.#id, path, options));
  }

  async mkdir(path: string, options: AsUser & { readonly parents?: boolean; readonly mode?: number } = {}): Promise<Entry> {
    refuseUnknown(options, { user: true, parents: true, mode: true });
    return this.#client.files.makeDirectory(this.#id, { path, ...options });
  }

  async move(from: string, to: string, options: AsUser = {}): Promise<Entry> {
    refuseUnknown(options, { user: true });
    return this.#client.files.move(this.#id, { from, to, ...options });
  }

  remove(path: string, options: AsUser & { readonly recursive?: boolean } = {}): Promise<void> {
    return this.#client.files.remove(this.#id, path, options);
  }

  /**
   * Copies a file or directory of this machine into the sandbox, as `cp` does: to a directory that is there it keeps its name, else the target
   * is its new name; `source/.` means what is in a directory. Not in a browser: see `write`.
   */
  async upload(source: string, target: string, options: AsUser = {}): Promise<void> {
    refuseUnknown(options, { user: true });
    const { upload } = await import("#copy");
    await upload(this.#client, source, { sandbox: this.#id, path: target }, options);
  }

  /** The same the other way. One that fails leaves nothing half-written, and never writes through a symbolic link. */
  async download(source: string, target: string, options: AsUser = {}): Promise<void> {
    refuseUnknown(options, { user: true });
    const { download } = await import("#copy");
    await download(this.#client, { sandbox: this.#id, path: source }, target, options);
  }
}

function textOf(bytes: Uint8Array, path: string, invalid: "error" | "replace"): string {
  try {
    return new TextDecoder("utf-8", { fatal: invalid === "error", ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw createError("invalid_request", `${path} is not UTF-8 text`, {
      hint: 'Read it with { as: "bytes" }, or with { invalid: "replace" }.',
      cause,
    });
  }
}

/** Not every browser has ReadableStream.from. */
function streamOf(content: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const chunks = content[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await chunks.return?.();
    },
  });
}
