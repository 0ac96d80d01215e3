import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { eventually } from "./inside.ts";

/** What one of the outside's servers saw. */
export interface Seen {
  readonly type: "connection" | "closed" | "request" | "query" | "datagram";
  readonly port: number;
  readonly from: string;
  readonly to: string;
  /** Path of a request, name of a query, text of a datagram, number of the last line that a closed connection was sent. */
  readonly text: string;
  readonly atMs: number;
}

/** Ports of the outside's servers at its address. */
export const outsidePorts = { http: 80, ticker: 7000, datagrams: 9000 } as const;

const server = fileURLToPath(new URL("./outside-server.ts", import.meta.url));
const blocks = 16;

/**
 * A piece of the Internet: a network namespace behind a veth with addresses of TEST-NET-3, which no rule refuses. In it are a name server,
 * a package index, a server that ticks and one that takes datagrams; each says what it saw.
 */
export class Outside {
  readonly name: string;
  readonly seen: Seen[] = [];
  readonly #veth: string;
  readonly #block: number;
  #server: ChildProcess | undefined;

  private constructor(block: number) {
    this.#block = block;
    this.name = `torpor-test-${process.pid}-${block}`;
    this.#veth = `tt${process.pid}b${block}`.slice(0, 15);
  }

  /** `files` is a directory with wheels for the package index. */
  static async open(files = "/nonexistent"): Promise<Outside> {
    const outside = new Outside(freeBlock());
    try {
      outside.#connect();
      await outside.#serve(files);
    } catch (error) {
      await outside[Symbol.asyncDispose]();
      throw error;
    }
    return outside;
  }

  /** Of the servers. `outside.test` and `pypi.test` have it. */
  get address(): string {
    return this.#at(10);
  }

  get resolver(): string {
    return this.#at(13);
  }

  /** The host's address on this network: one that a sandbox must not reach. */
  get hostAddress(): string {
    return this.#at(1);
  }

  /** Gives the web and datagram servers another address, of a range that is not this network's, which the host reaches. */
  alsoAt(address: string): void {
    ip("-n", this.name, "addr", "add", `${address}/32`, "dev", "lo");
    ip("route", "add", `${address}/32`, "via", this.address); // goes with the veth
  }

  /** Tells runs of the tests on one host apart: 0 to 15. */
  get block(): number {
    return this.#block;
  }

  /** Waits until a server saw it. */
  async sees(what: (seen: Seen) => boolean, limitMs?: number): Promise<Seen> {
    const found = await eventually(
      async () => this.seen.find(what),
      (seen) => seen !== undefined,
      limitMs,
    );
    return found as Seen;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const child = this.#server;
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      await exited;
    }
    // A namespace can outlive its name for as long as any process has an old mount of it; its interface must not.
    if (existsSync(`/sys/class/net/${this.#veth}`)) {
      ip("link", "del", this.#veth);
    }
    if (existsSync(`/run/netns/${this.name}`)) {
      ip("netns", "del", this.name);
    }
  }

  #connect(): void {
    const inside = (...args: string[]) => ip("-n", this.name, ...args);
    ip("netns", "add", this.name);
    ip("link", "add", this.#veth, "type", "veth", "peer", "name", "eth0", "netns", this.name);
    ip("addr", "add", `${this.hostAddress}/28`, "dev", this.#veth);
    ip("link", "set", this.#veth, "up");
    inside("addr", "add", `${this.address}/28`, "dev", "eth0");
    inside("addr", "add", `${this.resolver}/28`, "dev", "eth0");
    inside("link", "set", "lo", "up");
    inside("link", "set", "eth0", "up");
    // So that packets with any source would be answered, and seen.
    inside("route", "add", "default", "via", this.hostAddress);
  }

  async #serve(files: string): Promise<void> {
    const child = spawn("ip", ["netns", "exec", this.name, process.execPath, server, this.address, this.resolver, files], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.#server = child;
    const lines = createInterface({ input: child.stdout });
    const ready = once(lines, "line");
    const ended = once(child, "exit").then(([code]) => Promise.reject(new Error(`the outside's servers ended with ${String(code)}`)));
    ended.catch(() => {});
    await Promise.race([ready, ended]);
    lines.on("line", (line) => this.seen.push(JSON.parse(line) as Seen));
  }

  #at(host: number): string {
    return `198.51.100.${this.#block * 16 + host}`;
  }
}

/** Another run of the tests may be at work on this host. */
function freeBlock(): number {
  const routes = ip("-4", "route", "show");
  for (let i = 0; i < blocks; i++) {
    const block = (process.pid + i) % blocks;
    if (!routes.includes(`198.51.100.${block * 16}/28`)) {
      return block;
    }
  }
  throw new Error("every part of 198.51.100.0/24 is taken on this host");
}

function ip(...args: string[]): string {
  return execFileSync("ip", args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}
