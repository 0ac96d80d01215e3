import { type ClientHttp2Stream, constants, type IncomingHttpHeaders, type IncomingHttpStatusHeader } from "node:http2";
import {
  create,
  type DescMessage,
  type DescMethodServerStreaming,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { codeFromHttpStatus, endStreamFlag, endStreamFromJson } from "@connectrpc/connect/protocol-connect";
import type { Http2SessionManager } from "@connectrpc/connect-node";

const contentType = "application/connect+proto";
/** One byte of flags, four of length: https://connectrpc.com/docs/protocol */
const prefixBytes = 5;
/** As much as a guest puts into one message. */
const aheadBytes = 256 * 1024;
/** Whoever has become root in the sandbox may be at the other end, and name any length. */
const mostBytes = 4 * 1024 * 1024;

/**
 * Calls a method of the guest that answers by a stream, straight by HTTP/2 and in one write. The library's way to it, through a dozen iterables,
 * takes as much of the processor for a short command as all the rest of the daemon: docs/decisions/0215-commands-straight-to-http2.md.
 * Who leaves breaks the call off. Fails with ConnectError, as a call by the library does.
 */
export async function* directStream<I extends DescMessage, O extends DescMessage>(
  manager: Http2SessionManager,
  method: DescMethodServerStreaming<I, O>,
  request: MessageInitShape<I>,
  signal?: AbortSignal,
): AsyncGenerator<MessageShape<O>> {
  throwIfAborted(signal);
  const stream = await open(manager, `/${method.parent.typeName}/${method.name}`);
  const call = new Call(stream, signal);
  let over = false;
  try {
    stream.end(enveloped(toBinary(method.input, create(method.input, request))));
    for (let next = await call.next(); ; next = await call.next()) {
      manager.notifyResponseByteRead(stream);
      if ((next.flags & endStreamFlag) !== 0) {
        over = true;
        throwEnd(next.data);
        return;
      }
      yield fromBinary(method.output, next.data);
    }
  } finally {
    call.leave(over);
  }
}

/** Nothing is wrong with most: the library's reader makes an error, with its stack, before it looks. */
function throwEnd(data: Uint8Array): void {
  const isPlain = data.length === 2; // {}
  const error = isPlain ? undefined : endStreamFromJson(data).error;
  if (error !== undefined) throw error;
}

async function open(manager: Http2SessionManager, path: string): Promise<ClientHttp2Stream> {
  try {
    return await manager.request("POST", path, { "content-type": contentType, "connect-protocol-version": "1" }, {});
  } catch (cause) {
    throw fromNode(cause);
  }
}

function enveloped(message: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(prefixBytes + message.length);
  bytes[0] = 0;
  bytes.writeUInt32BE(message.length, 1);
  bytes.set(message, prefixBytes);
  return bytes;
}

interface Envelope {
  readonly flags: number;
  readonly data: Uint8Array;
}

/** Reads envelopes ahead of who asks for them, up to a bound: then the guest waits, by the stream's window. */
class Call {
  readonly #stream: ClientHttp2Stream;
  readonly #signal: AbortSignal | undefined;
  readonly #envelopes = new Envelopes();
  #failure: ConnectError | undefined;
  #over = false;
  #wake = () => {};

  constructor(stream: ClientHttp2Stream, signal: AbortSignal | undefined) {
    this.#stream = stream;
    this.#signal = signal;
    signal?.addEventListener("abort", this.#abort);
    stream.once("response", (headers) => this.#check(headers));
    stream.on("data", (chunk: Buffer) => this.#add(chunk));
    stream.on("error", (cause: unknown) => this.#fail(fromNode(cause)));
    // It comes when all that came before is read.
    stream.once("close", () => {
      if (!this.#over) this.#fail(fromReset(stream.rstCode));
    });
  }

  async next(): Promise<Envelope> {
    for (;;) {
      const envelope = this.#envelopes.take();
      if (envelope !== undefined) return envelope;
      if (this.#failure !== undefined) throw this.#failure;
      this.#stream.resume();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #add(chunk: Buffer): void {
    this.#envelopes.add(chunk);
    if (this.#envelopes.bytes > aheadBytes) this.#stream.pause();
    this.#wake();
  }

  /** Ends a call that goes on. */
  leave(over: boolean): void {
    this.#over = true;
    this.#signal?.removeEventListener("abort", this.#abort);
    if (!over) this.#cancel();
  }

  #check(headers: IncomingHttpHeaders & IncomingHttpStatusHeader): void {
    const status = headers[":status"] ?? 0;
    if (status === 200 && headers["content-type"] === contentType) return;
    this.#fail(new ConnectError(`HTTP ${status}, ${headers["content-type"]}`, status === 200 ? Code.Internal : codeFromHttpStatus(status)));
    this.#cancel();
  }

  readonly #abort = () => {
    this.#fail(aborted(this.#signal));
    this.#cancel();
  };

  #fail(failure: ConnectError): void {
    this.#failure ??= failure;
    this.#wake();
  }

  #cancel(): void {
    if (!this.#stream.destroyed) this.#stream.close(constants.NGHTTP2_CANCEL);
    // Unread data would keep it.
    this.#stream.destroy();
  }
}

/** Cuts bytes into envelopes. */
class Envelopes {
  #chunks: Buffer[] = [];
  #size = 0;
  #needed = prefixBytes;

  get bytes(): number {
    return this.#size;
  }

  add(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
  }

  take(): Envelope | undefined {
    if (this.#size < this.#needed) return undefined;
    const [first = Buffer.alloc(0)] = this.#chunks;
    const bytes = this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks, this.#size);
    this.#chunks = [bytes];
    const length = bytes.readUInt32BE(1);
    if (length > mostBytes) throw new ConnectError(`the guest sent a message of ${length} bytes`, Code.Internal);
    this.#needed = prefixBytes + length;
    if (bytes.length < this.#needed) return undefined;
    const envelope = { flags: bytes[0] ?? 0, data: bytes.subarray(prefixBytes, this.#needed) };
    this.#chunks = [bytes.subarray(this.#needed)];
    this.#size -= this.#needed;
    this.#needed = prefixBytes;
    return envelope;
  }
}

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw aborted(signal);
}

function aborted(signal: AbortSignal | undefined): ConnectError {
  return new ConnectError("the call was broken off", Code.Canceled, undefined, undefined, signal?.reason);
}

function fromNode(cause: unknown): ConnectError {
  if (cause instanceof ConnectError) return cause;
  const failure = ConnectError.from(cause, Code.Internal);
  failure.cause = cause;
  return failure;
}

function fromReset(rstCode: number | undefined): ConnectError {
  const code = rstCode === constants.NGHTTP2_CANCEL ? Code.Canceled : Code.Internal;
  return new ConnectError(`the answer ended before its end (HTTP/2 code ${rstCode})`, code);
}
