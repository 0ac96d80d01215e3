import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";

/** A port of this host for who will listen on it later: below those that the kernel hands out, so that nobody is given it meanwhile. */
export async function quietPort(): Promise<number> {
  const [least = 0] = readFileSync("/proc/sys/net/ipv4/ip_local_port_range", "utf8").split(/\s+/).map(Number);
  const from = Math.min(10_000, Math.floor(least / 2));
  for (let tries = 0; tries < 100; tries++) {
    const port = from + Math.floor(Math.random() * (least - from));
    if (await isFree(port)) return port;
  }
  throw new Error(`no port from ${from} to ${least} is free`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch {
    return false;
  }
  server.close();
  await once(server, "close");
  return true;
}
