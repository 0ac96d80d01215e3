import { chmod, lstat, rm } from "node:fs/promises";
import { connect } from "node:net";
import { TorporError } from "@torpor/contract";
import type { FastifyInstance } from "fastify";

/** Listens on a Unix socket that only its owner may open. A socket that nobody listens on any more is replaced. */
export async function listenOnSocket(app: FastifyInstance, path: string): Promise<void> {
  await removeDeadSocket(path);
  // The mask is the process's, so nothing else may make files meanwhile: this is done once, before the daemon serves.
  const mask = process.umask(0o177);
  try {
    await app.listen({ path });
  } finally {
    process.umask(mask);
  }
  await chmod(path, 0o600);
}

async function removeDeadSocket(path: string): Promise<void> {
  const entry = await lstat(path).catch(() => undefined);
  if (entry === undefined) return;
  if (!entry.isSocket())
    throw new TorporError("invalid_path", `${path} is there and is not a socket`, { hint: "Name another socket, or remove that file." });
  if (await answers(path))
    throw new TorporError("invalid_request", `another torpord listens on ${path}`, { hint: "Stop it with torpor daemon stop." });
  await rm(path);
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
