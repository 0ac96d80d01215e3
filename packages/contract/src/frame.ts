/**
 * Frames of the session WebSocket. Each binary message is one byte of kind and, for output, eight bytes of sequence
 * number (big-endian), then the payload. JSON payloads are UTF-8.
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
} as const;
