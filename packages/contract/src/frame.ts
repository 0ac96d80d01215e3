/**
 * Frames of the session WebSocket. Each binary message is one byte of kind, then the payload: JSON payloads are UTF-8, a
 * number is eight bytes, big-endian. A kind that you do not know is to be passed over: newer servers have more.
 *
 * **Order.** `started` comes first, then output in the order of its sequence numbers, and `live` once between them: what
 * came before it had been there when you attached. A terminal emulator must answer no query (DSR, DA and the like) that it
 * finds before `live`, or its answer is typed into the shell. The last message is `end` or `error`; then the server closes,
 * with one of `closeCodes`. A connection that closes without either has broken off: attach again with `after` as the last
 * sequence number seen, and exactly what was missed comes.
 *
 * **Input.** `stdin` is for a client that does not come back: what a broken connection had not delivered is lost. A client
 * that does come back picks an id (`?client=`) and numbers its bytes: `input` frames say where in all that this client has sent
 * their first byte stands. The server tells by `inputTaken` how much of it the process has; it does so after `started` and
 * after each write. What it has not told of is sent again after a cut, and bytes that had arrived are dropped: a paste that
 * was cut in the middle is typed once. The count is kept in the sandbox, so it outlives the daemon and a pause.
 *
 * A client with an id has one connection: the next one ends that before, which may be dead without anybody knowing.
 *
 * **Many clients.** All get all output. Input of several is taken in the order of its arrival, frame by frame at most split at 64 KiB.
 * The terminal has the size that was set last, whoever set it; all others are told by `resized`. A client with
 * `?mode=read` only reads: input, sizes and signals from it close its connection with `closeCodes.refused`.
 */
export const frameKinds = {
  /** client → server: input bytes */
  stdin: 0,
  /** client → server: end of input */
  stdinEnd: 1,
  /** client → server: JSON {rows, columns} */
  resize: 2,
  /** client → server: JSON {signal} */
  signal: 3,
  /** client → server: position in this client's input + bytes */
  input: 4,
  /** server → client: seq + bytes */
  stdout: 16,
  stderr: 17,
  terminal: 18,
  /** server → client: JSON Session, the first message */
  started: 19,
  /** server → client: JSON SessionEnd, the last message */
  end: 20,
  /** server → client: JSON error body, the last message */
  error: 21,
  /** server → client: no payload; output from here on is new */
  live: 22,
  /** server → client: bytes of this client's input that the process has */
  inputTaken: 23,
  /** server → client: JSON {rows, columns}, set by another client */
  resized: 24,
  /** server → client: seq + JSON SessionMark, in a supervised session: where a process ended or another one began */
  mark: 25,
} as const;

/**
 * Sub-protocols of every WebSocket of the API. A browser can't give a WebSocket the header `Authorization`: it offers `name`, and `token` with its token
 * after it. The server chooses `name`, so the token comes back in no answer.
 */
export const socketProtocols = { name: "torpor", token: "torpor.bearer." } as const;

/** Why the server closed the connection. Any other code, 1006 above all, is the network's: attach again. */
export const closeCodes = {
  /** The session has ended by itself: `end` says how. Nothing is to be had by attaching again. */
  ended: 1000,
  /** torpord shuts down: attach again when it is back. The session goes on. */
  shutdown: 1001,
  /** Your message was not one that you may send. The session goes on. */
  refused: 1008,
  /** An `error` frame came before. */
  failed: 4000,
  /** `end` came before, with the reason `paused`: attach again after the resume, or at once if the sandbox wakes for calls. */
  paused: 4001,
  /** `end` came before, with the reason `stopped`: the process is gone. */
  stopped: 4002,
  /** `end` came before, with the reason `lost`: the runtime ended, or the line to it broke. */
  lost: 4003,
  /** Another client took the session over (`?takeover=true`): do not come back by yourself. */
  kicked: 4004,
} as const;
