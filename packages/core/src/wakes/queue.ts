import { TorporError } from "@torpor/contract";
import type { GuestUse } from "../guest-use.ts";
import type { Ids } from "../ports/ids.ts";
import type { PlacedWakeup } from "../ports/wake-store.ts";
import { latenessOf } from "./new-delivery.ts";

const queue = "/var/lib/torpor/wakes";
const hooks = "/etc/torpor/hooks/woken.d";
const hookLimitMs = 30_000;
const hookCount = 100;

/** All of it into a hidden directory, anew if an earlier try left a part. */
export async function prepare({ files }: GuestUse, delivery: PlacedWakeup): Promise<void> {
  const hidden = hiddenOf(delivery);
  await unlessGone(() => files.remove(hidden, { recursive: true }));
  const contents = contentsOf(delivery);
  for (const [name, content] of contents) await files.write(`${hidden}/${name}`, once(content), { parents: true, mode: 0o644 });
}

/** One rename shows all of it, so programs see it whole and once. That it is hidden no more means that an earlier try came so far. */
export async function publish({ files }: GuestUse, delivery: PlacedWakeup): Promise<void> {
  await unlessGone(() => files.move(hiddenOf(delivery), placeOf(delivery), {}));
}

/** One after the other, by name, as root. None, if the sandbox has acknowledged it: then an earlier try ran them. */
export async function runHooks(guest: GuestUse, delivery: PlacedWakeup, ids: Ids): Promise<void> {
  const found = await unlessGone(async () => {
    await guest.files.stat(placeOf(delivery), {});
    return guest.files.list(hooks, {});
  });
  const programs = (found ?? [])
    .filter(({ type, mode }) => type === "file" && (mode & 0o111) !== 0)
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const { path } of programs.slice(0, hookCount)) await runHook(guest, path, delivery, ids.next("se"));
}

async function runHook({ sessions }: GuestUse, path: string, delivery: PlacedWakeup, sessionId: string): Promise<void> {
  const env = { TORPOR_WAKE: placeOf(delivery), TORPOR_WAKE_ID: delivery.wake.id };
  const start = { sessionId, argv: [path], env, user: "root", workdir: "/", timeoutMs: hookLimitMs, hold: false };
  try {
    for await (const frame of sessions.run(start)) if (frame.type === "end") break;
    await sessions.remove(sessionId, true);
  } catch (error) {
    // One that can't be started must not keep the others from running.
    if (!(error instanceof TorporError) || error.code !== "command_not_started") throw error;
  }
}

function contentsOf(delivery: PlacedWakeup): readonly (readonly [name: string, content: string | Uint8Array])[] {
  const { id, seq, wake, dueAt, firedAt, call } = delivery;
  const told = {
    seq,
    delivery: id,
    wake: wake.id,
    kind: wake.kind,
    label: wake.label,
    query: call?.query,
    dueAt,
    firedAt,
    ...latenessOf(delivery),
  };
  const json = ["wake.json", `${JSON.stringify(told)}\n`] as const;
  if (call === null) return [json];
  const headers = call.headers.map(([name, value]) => `${name}: ${value}\n`).join("");
  return [
    json,
    ["method", `${call.method}\n`],
    ["headers", headers],
    ["body", Uint8Array.from(atob(call.body), (character) => character.charCodeAt(0))],
  ];
}

/** Names sort as numbers do. */
function nameOf({ seq }: PlacedWakeup): string {
  return String(seq).padStart(12, "0");
}

function placeOf(delivery: PlacedWakeup): string {
  return `${queue}/${nameOf(delivery)}`;
}

function hiddenOf(delivery: PlacedWakeup): string {
  return `${queue}/.${nameOf(delivery)}`;
}

async function unlessGone<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof TorporError && error.code === "file_not_found") return undefined;
    throw error;
  }
}

async function* once(content: string | Uint8Array): AsyncIterable<Uint8Array> {
  yield typeof content === "string" ? new TextEncoder().encode(content) : content;
}
