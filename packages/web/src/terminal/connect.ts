import { queryText } from "../api/call.ts";
import { getSession } from "../api/calls.ts";
import { SessionStream, type Socket, type StreamReader } from "../stream/session-stream.ts";

/** The session's stream over the browser's WebSockets. */
export function streamOf(sandboxId: string, sessionId: string, client: string, reader: StreamReader): SessionStream {
  const path = `/v1/sandboxes/${encodeURIComponent(sandboxId)}/sessions/${encodeURIComponent(sessionId)}/attach`;
  const address = `${location.origin.replace(/^http/, "ws")}${path}`;
  return new SessionStream(
    {
      open: (after) => {
        const socket = new WebSocket(address + queryText({ after, client }));
        socket.binaryType = "arraybuffer";
        return socket as Socket;
      },
      examine: () => getSession(sandboxId, sessionId),
      setTimer: (ms, then) => {
        const timer = setTimeout(then, ms);
        return () => clearTimeout(timer);
      },
      now: () => Date.now(),
    },
    reader,
  );
}
