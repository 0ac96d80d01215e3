import { createClient, type Transport } from "@connectrpc/connect";
import type { Entry, FileChange } from "@torpor/contract";
import { TorporError } from "@torpor/contract";
import type { GuestFiles } from "@torpor/core";
import { fromGuestError, type LineState, refuseIfClosed } from "./guest-error.ts";
import { ChangeKind, EntryType, Files, type Change as GuestChange, type Entry as GuestEntry } from "./protocol/torpor/guest/v1/guest_pb.ts";

/** Largest piece of one message: the guest refuses larger ones, and smaller ones cost more messages. */
const chunkBytes = 256 * 1024;

export function createGuestFiles(transport: Transport, line: LineState): GuestFiles {
  const client = createClient(Files, transport);
  const guarded = async <T>(call: () => Promise<T>, subject: "file" | "archive" = "file"): Promise<T> => {
    refuseIfClosed(line);
    try {
      return await call();
    } catch (error) {
      throw fromGuestError(error, line, subject);
    }
  };
  async function* guardedStream(chunks: AsyncIterator<{ data: Uint8Array }>): AsyncGenerator<Uint8Array> {
    try {
      for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) {
        if (next.value.data.length > 0) {
          yield next.value.data;
        }
      }
    } catch (error) {
      throw fromGuestError(error, line, "file");
    } finally {
      await chunks.return?.().catch(() => {});
    }
  }

  return {
    stat: (path, { user = "", follow = true }) => guarded(async () => toEntry(await client.stat({ path, user, follow }))),
    list: (path, { user = "", depth = 1 }) => guarded(async () => (await client.listDirectory({ path, user, depth })).entries.map(toEntry)),
    read: (path, { user = "", offset = 0, length = 0, signal }) =>
      guarded(async () => {
        const messages = client
          .read({ path, user, offset: BigInt(offset), length: BigInt(length) }, signal === undefined ? {} : { signal })
          [Symbol.asyncIterator]();
        const first = await messages.next();
        if (first.done === true || first.value.entry === undefined) {
          throw new TorporError("internal", "the guest sent a file without its entry");
        }
        return { entry: toEntry(first.value.entry), content: startWith(first.value.data, guardedStream(messages)) };
      }),
    write: (path, content, { user = "", mode = 0, parents = false }) =>
      guarded(async () =>
        toEntry(
          await client.write(
            (async function* () {
              yield { open: { path, user, mode, parents } };
              for await (const data of pieces(content)) {
                yield { data };
              }
              // Without it the guest keeps the old file: content that broke off never gets here.
              yield { commit: true };
            })(),
          ),
        ),
      ),
    async *watch(path, { recursive = false, signal }) {
      refuseIfClosed(line);
      try {
        for await (const { changes } of client.watch({ path, recursive }, signal === undefined ? {} : { signal }))
          yield changes.map(toChange);
      } catch (error) {
        if (signal?.aborted !== true) throw fromGuestError(error, line, "file");
      }
    },
    makeDirectory: (path, { user = "", parents = false, mode = 0 }) =>
      guarded(async () => toEntry(await client.makeDirectory({ path, user, parents, mode }))),
    move: (from, to, { user = "" }) => guarded(async () => toEntry(await client.move({ from, to, user }))),
    remove: (path, { user = "", recursive = false }) => guarded(async () => void (await client.remove({ path, user, recursive }))),
    readArchive: (path, { user = "", follow = false, signal }) => {
      refuseIfClosed(line);
      return guardedStream(client.readArchive({ path, user, follow }, signal === undefined ? {} : { signal })[Symbol.asyncIterator]());
    },
    writeArchive: (path, content, { user = "" }) =>
      guarded(async () => {
        const { files, bytes } = await client.writeArchive(
          (async function* () {
            yield { open: { path, user } };
            for await (const data of pieces(content)) {
              yield { data };
            }
          })(),
        );
        return { files: Number(files), bytes: Number(bytes) };
      }, "archive"),
  };
}

async function* pieces(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of content) {
    for (let at = 0; at < chunk.length; at += chunkBytes) {
      yield chunk.subarray(at, at + chunkBytes);
    }
  }
}

async function* startWith(first: Uint8Array, rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (first.length > 0) {
    yield first;
  }
  yield* rest;
}

const kinds: Readonly<Record<number, FileChange["change"]>> = {
  [ChangeKind.CREATED]: "created",
  [ChangeKind.MODIFIED]: "modified",
  [ChangeKind.WRITTEN]: "written",
  [ChangeKind.REMOVED]: "removed",
  [ChangeKind.RENAMED]: "renamed",
  [ChangeKind.ATTRIBUTES]: "attributes",
};

function toChange({ kind, path, from, directory }: GuestChange): FileChange {
  return { change: kinds[kind] ?? "missed", path, from: from === "" ? null : from, directory };
}

const types: Readonly<Record<number, Entry["type"]>> = {
  [EntryType.FILE]: "file",
  [EntryType.DIRECTORY]: "directory",
  [EntryType.SYMLINK]: "symlink",
};

function toEntry(entry: GuestEntry): Entry {
  return {
    path: entry.path,
    name: entry.name,
    type: types[entry.type] ?? "other",
    size: Number(entry.size),
    mode: entry.mode,
    owner: entry.owner,
    group: entry.group,
    uid: entry.uid,
    gid: entry.gid,
    modifiedAt: new Date(Number(entry.modifiedUnixNanos / 1_000_000n)).toISOString(),
    symlinkTarget: entry.symlinkTarget === "" ? null : entry.symlinkTarget,
  };
}
