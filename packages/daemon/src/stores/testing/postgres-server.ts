import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chown, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { Client } from "pg";

const run = promisify(execFile);
/** Debian's: one directory a major version. */
const installed = "/usr/lib/postgresql";
/** It refuses to run as root. */
const nobody = { uid: 65_534, gid: 65_534 };

/** A PostgreSQL server of the test's own: in a temporary directory, on a Unix socket there, without TCP; nothing is left of it. */
export class PostgresServer implements AsyncDisposable {
  readonly #directory: string;
  readonly #binaries: string;
  #process: ChildProcess | undefined;
  #databases = 0;

  private constructor(directory: string, binaries: string) {
    this.#directory = directory;
    this.#binaries = binaries;
  }

  static async start(): Promise<PostgresServer> {
    const directory = await mkdtemp(path.join(tmpdir(), "torpor-postgres-"));
    const server = new PostgresServer(directory, await findBinaries());
    try {
      if (process.getuid?.() === 0) await chown(directory, nobody.uid, nobody.gid);
      const options = ["--pgdata", server.#data, "--username=torpor", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"];
      const [program = "", ...args] = server.#command("initdb", options);
      await run(program, args, { cwd: directory });
      await server.begin();
      return server;
    } catch (error) {
      await server[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** After `lose`: the same data again. */
  async begin(): Promise<void> {
    // fsync is for power cuts; a killed server finds everything in the kernel's cache.
    const settings = ["listen_addresses=", `unix_socket_directories=${this.#directory}`, "fsync=off", "max_connections=200"];
    const [program = "", ...args] = this.#command("postgres", ["-D", this.#data, ...settings.flatMap((setting) => ["-c", setting])]);
    const child = spawn(program, args, { cwd: this.#directory, stdio: ["ignore", "ignore", "pipe"] });
    this.#process = child;
    const lines = createInterface({ input: child.stderr as NodeJS.ReadableStream });
    const said: string[] = [];
    const ready = new Promise<void>((resolve, reject) => {
      lines.on("line", (line) => {
        said.push(line);
        if (line.includes("database system is ready to accept connections")) resolve();
      });
      child.once("exit", () => reject(new Error(`PostgreSQL did not start:\n${said.join("\n")}`)));
    });
    await ready;
  }

  /** The server goes away at once: connections break, what was not committed is undone. */
  async lose(): Promise<void> {
    await this.#end("SIGQUIT");
  }

  /** The URL of a new, empty database. */
  async database(): Promise<string> {
    const name = `test_${++this.#databases}`;
    await this.query("postgres", `create database ${name}`);
    return this.url(name);
  }

  url(name: string): string {
    return `postgres://torpor@localhost/${name}?host=${encodeURIComponent(this.#directory)}`;
  }

  /** A connection that the caller ends. */
  async connect(database: string): Promise<Client> {
    const client = new Client({ connectionString: this.url(database) });
    await client.connect();
    return client;
  }

  async query(database: string, text: string): Promise<Record<string, unknown>[]> {
    const client = await this.connect(database);
    try {
      return (await client.query(text)).rows;
    } finally {
      await client.end();
    }
  }

  /** The schema of a database, as pg_dump tells it, without what differs from server to server. */
  async dump(url: string): Promise<string> {
    const name = new URL(url).pathname.slice(1);
    const options = ["--schema-only", "--no-owner", "--no-privileges", "--host", this.#directory, "--username=torpor", name];
    const { stdout } = await run(path.join(this.#binaries, "pg_dump"), options);
    return schemaOf(stdout);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end("SIGINT");
    await rm(this.#directory, { recursive: true, force: true });
  }

  /** Where it listens; PostgreSQL names the file by its port. */
  get socketPath(): string {
    return path.join(this.#directory, ".s.PGSQL.5432");
  }

  get #data(): string {
    return path.join(this.#directory, "data");
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined || child.exitCode !== null) return;
    child.kill(signal);
    await once(child, "exit");
  }

  /** With the end of the test's process it ends too, whatever that died of. */
  #command(program: string, args: readonly string[]): string[] {
    const identity = process.getuid?.() === 0 ? [`--reuid=${nobody.uid}`, `--regid=${nobody.gid}`, "--clear-groups"] : [];
    return ["setpriv", ...identity, "--pdeathsig=INT", "--", path.join(this.#binaries, program), ...args];
  }
}

/** Without comments and settings, which tell of the server rather than of the schema. */
function schemaOf(dump: string): string {
  const lines = dump.split("\n").filter((line) => line !== "" && !/^(--|SET |SELECT pg_catalog|\\)/.test(line));
  return `${lines.join("\n")}\n`;
}

async function findBinaries(): Promise<string> {
  const versions = await readdir(installed).catch(() => []);
  const newest = versions
    .map(Number)
    .filter(Number.isInteger)
    .sort((a, b) => b - a)[0];
  if (newest === undefined) throw new Error("PostgreSQL is not installed: scripts/bootstrap brings it (Debian's postgresql-15)");
  return path.join(installed, String(newest), "bin");
}
