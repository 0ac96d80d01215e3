import { run } from "./spawn.ts";

/**
 * Tells systemd that the daemon listens, for a unit of Type=notify. By systemd's own program, which is there wherever the variable NOTIFY_SOCKET
 * is set: Node.js has no datagram sockets in the file system.
 */
export async function tellReady(notifySocket: string | undefined): Promise<void> {
  if (notifySocket === undefined || notifySocket === "") return;
  await run("systemd-notify", ["--ready"], { env: { NOTIFY_SOCKET: notifySocket } });
}
