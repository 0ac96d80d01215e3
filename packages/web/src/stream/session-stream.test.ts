import type { Session } from "@torpor/contract";
import { TorporError } from "@torpor/contract/error";
import { frameKinds } from "@torpor/contract/frame";
import { beforeEach, expect, test } from "vitest";
import { SessionStream, type Socket, type StreamState } from "./session-stream.ts";

const text = new TextEncoder();
const session = { id: "se_1", firstSeq: 1, lastSeq: 0 } as Session;

class FakeSocket implements Socket {
  onopen: Socket["onopen"] = null;
  onmessage: Socket["onmessage"] = null;
  onclose: Socket["onclose"] = null;
  readonly after: number;
  readonly sent: Uint8Array[] = [];
  closed = false;

  constructor(after: number) {
    this.after = after;
  }

  send(data: Uint8Array): void {
    this.sent.push(data);
  }

  close(): void {
    this.closed = true;
  }

  get input(): string {
    return this.sent
      .filter(([kind]) => kind === frameKinds.input)
      .map((frame) => `${number(frame)}:${new TextDecoder().decode(frame.subarray(9))}`)
      .join(" ");
  }

  give(kind: number, value: number | object | undefined, payload = ""): void {
    const head = typeof value === "number" ? eight(value) : text.encode(value === undefined ? "" : JSON.stringify(value));
    const body = text.encode(payload);
    const message = new Uint8Array(1 + head.length + body.length);
    message[0] = kind;
    message.set(head, 1);
    message.set(body, 1 + head.length);
    this.onmessage?.({ data: message.buffer });
  }

  accept(taken = 0): void {
    this.onopen?.();
    this.give(frameKinds.started, session);
    this.give(frameKinds.inputTaken, taken);
    this.give(frameKinds.live, undefined);
  }

  output(seq: number, data: string): void {
    this.give(frameKinds.terminal, seq, data);
  }
}

const eight = (value: number) => new Uint8Array(new BigUint64Array([BigInt(value)]).buffer).reverse();
const number = (frame: Uint8Array) => Number(new DataView(frame.buffer).getBigUint64(1));

let sockets: FakeSocket[];
let timers: { ms: number; then: () => void }[];
let states: StreamState["kind"][];
let screen: string;
let examine: () => Promise<Session>;
let finish: (() => void)[] | undefined;

beforeEach(() => {
  [sockets, timers, states, screen, finish] = [[], [], [], "", undefined];
  examine = async () => session;
});

const open = () =>
  new SessionStream(
    {
      open: (after) => {
        const socket = new FakeSocket(after);
        sockets.push(socket);
        return socket;
      },
      examine: () => examine(),
      setTimer: (ms, then) => {
        const timer = { ms, then };
        timers.push(timer);
        return () => {
          timers = timers.filter((one) => one !== timer);
        };
      },
      now: () => 0,
    },
    {
      output: (data, done) => {
        screen += new TextDecoder().decode(data.subarray(0, 20));
        if (finish === undefined) done();
        else finish.push(done);
      },
      started: () => {},
      live: () => {},
      resized: () => {},
      mark: ({ pid }) => {
        screen += `<${pid}>`;
      },
      gap: () => {
        screen += "<gap>";
      },
      state: ({ kind }) => states.push(kind),
    },
  );

const socket = (index: number) => sockets[index] as FakeSocket;
const fireTimers = () => {
  for (const { then } of timers.splice(0)) then();
};
const settled = () => new Promise((resolve) => setTimeout(resolve));

test("after a cut it asks for what comes after the last number, and shows no byte twice", () => {
  const stream = open();
  stream.connect();
  socket(0).accept();
  socket(0).output(1, "one ");
  socket(0).onclose?.({ code: 1006 });
  expect(stream.state.kind).toBe("reconnecting");
  fireTimers();
  expect(socket(1).after).toBe(1);
  socket(1).accept();
  socket(1).output(1, "one ");
  socket(1).output(2, "two");
  expect(screen).toBe("one two");
  expect(states).toEqual(["connecting", "live", "reconnecting", "reconnecting", "live"]);
});

test("Y09: what was typed and not taken is sent again at its position, also what was typed while away", () => {
  const stream = open();
  stream.connect();
  socket(0).accept();
  stream.write(text.encode("hello"));
  socket(0).give(frameKinds.inputTaken, 2);
  socket(0).onclose?.({ code: 1006 });
  stream.write(text.encode("!"));
  fireTimers();
  socket(1).accept(3);
  expect(socket(0).input).toBe("0:hello");
  expect(socket(1).input).toBe("3:lo 5:!");
});

test("failed attempts wait longer each time, and success begins anew", async () => {
  const stream = open();
  examine = async () => {
    throw new TorporError("daemon_unreachable", "gone");
  };
  stream.connect();
  const waits: number[] = [];
  for (let i = 0; i < 9; i++) {
    socket(i).onclose?.({ code: 1006 });
    await settled();
    waits.push(timers[0]?.ms ?? 0);
    fireTimers();
  }
  expect(waits[0]).toBeLessThan(200);
  expect(waits[8]).toBeGreaterThan(7000);
  expect(waits[8]).toBeLessThan(12_600);
  socket(9).accept();
  socket(9).onclose?.({ code: 1006 });
  expect(timers[0]?.ms).toBeLessThan(200);
});

test("a pause is waited out without attempts, and a resume goes on from the last number", () => {
  const stream = open();
  stream.connect();
  socket(0).accept();
  socket(0).output(7, "x");
  socket(0).give(frameKinds.end, { reason: "paused", exitCode: null, signal: null, oom: false });
  socket(0).onclose?.({ code: 4001 });
  expect([stream.state.kind, timers.length]).toEqual(["away", 0]);
  stream.connect();
  expect(socket(1).after).toBe(7);
});

test("an end is final, and so is a session that is not there", async () => {
  const stream = open();
  stream.connect();
  socket(0).accept();
  socket(0).give(frameKinds.end, { reason: "exited", exitCode: 3, signal: null, oom: false });
  socket(0).onclose?.({ code: 1000 });
  expect(stream.state).toMatchObject({ kind: "ended", end: { exitCode: 3 } });
  const other = open();
  examine = async () => {
    throw new TorporError("session_not_found", "no such session");
  };
  other.connect();
  socket(1).onclose?.({ code: 1006 });
  await settled();
  expect(other.state).toMatchObject({ kind: "refused", error: { code: "session_not_found" } });
  expect(timers).toEqual([]);
});

test("output that is no longer kept leaves a mark, and the oldest that is kept follows", async () => {
  const stream = open();
  stream.connect();
  socket(0).onopen?.();
  examine = async () => ({ ...session, firstSeq: 40 });
  socket(0).give(frameKinds.error, { error: { code: "session_output_gone", message: "gone" } });
  socket(0).onclose?.({ code: 4000 });
  await settled();
  expect([screen, socket(1).after]).toEqual(["<gap>", 39]);
});

test("a mark between two processes of a supervised session is told once", () => {
  const stream = open();
  stream.connect();
  socket(0).accept();
  socket(0).output(1, "a");
  for (const at of [0, 1]) {
    socket(at).give(frameKinds.mark, 2, JSON.stringify({ attempt: 2, pid: 7, end: null }));
    socket(at).output(3, "b");
    if (at === 0) stream.connect();
  }
  expect([screen, socket(1).after]).toEqual(["a<7>b", 3]);
});

test("a flood that the emulator can't follow is left until it has caught up", () => {
  const stream = open();
  finish = [];
  stream.connect();
  socket(0).accept();
  const piece = "x".repeat(3 * 1024 * 1024);
  for (let seq = 1; seq <= 3; seq++) socket(0).output(seq, piece);
  expect(socket(0).closed).toBe(true);
  expect(sockets).toHaveLength(1);
  for (const done of finish) done();
  expect(socket(1).after).toBe(3);
});

test("input that is not answered makes it ask, and a network that is gone is noticed", async () => {
  const stream = open();
  stream.connect();
  socket(0).accept();
  stream.write(text.encode("a"));
  fireTimers();
  await settled();
  expect(stream.state.kind).toBe("live");
  examine = async () => {
    throw new TorporError("daemon_unreachable", "gone");
  };
  stream.write(text.encode("b"));
  fireTimers();
  await settled();
  expect([stream.state.kind, socket(0).closed]).toEqual(["reconnecting", true]);
});
