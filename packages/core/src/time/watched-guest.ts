import type { Guest, GuestPorts, SessionFrame } from "../ports/guest.ts";

/** How uses of one sandbox are told. */
export interface Use {
  note(): void;
  /** Used until the given function is called. */
  hold(): () => void;
}

/** The same line, but each call and stream on it counts as use of the sandbox as long as it is open. */
export function watchedGuest(guest: Guest, use: Use): Pick<Guest, "sessions" | "files" | "ports"> {
  return { sessions: watched(guest.sessions, use), files: watched(guest.files, use), ports: watchedPorts(guest.ports, use) };
}

/** Of a connection to a port only what passes counts: browsers and pools keep theirs open for hours. */
function watchedPorts(ports: GuestPorts, use: Use): GuestPorts {
  return {
    async connect(port, input, signal) {
      const release = use.hold();
      const { content } = await ports.connect(port, noted(input, use), signal).finally(release);
      return { content: noted(content, use) };
    },
  };
}

async function* noted(stream: AsyncIterable<Uint8Array>, use: Use): AsyncIterable<Uint8Array> {
  for await (const chunk of stream) {
    use.note();
    yield chunk;
  }
}

function watched<T extends object>(calls: T, use: Use): T {
  return new Proxy(calls, {
    get(target, property) {
      const call: unknown = Reflect.get(target, property);
      if (typeof call !== "function") return call;
      return (...given: unknown[]) => watchResult(Reflect.apply(call, target, given), use);
    },
  });
}

function watchResult(result: unknown, use: Use): unknown {
  if (isStream(result)) return watchStream(result, use);
  if (!(result instanceof Promise)) return result;
  const release = use.hold();
  return result.then((value: unknown) => watchContent(value, use)).finally(release);
}

/** A file that is read: its content comes later than the answer. */
function watchContent(value: unknown, use: Use): unknown {
  if (typeof value !== "object" || value === null || !("content" in value) || !isStream(value.content)) return value;
  return { ...value, content: watchStream(value.content, use) };
}

/** Of a terminal only what passes counts: one that is left open for the night must not keep its sandbox awake. */
async function* watchStream(stream: AsyncIterable<unknown>, use: Use): AsyncIterable<unknown> {
  const release = use.hold();
  try {
    for await (const item of stream) {
      use.note();
      if (isTerminal(item)) release();
      yield item;
    }
  } finally {
    release();
  }
}

function isTerminal(item: unknown): boolean {
  const frame = item as Partial<Extract<SessionFrame, { type: "started" }>>;
  return frame.type === "started" && frame.session?.terminal === true;
}

function isStream(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}
