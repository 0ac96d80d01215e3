import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";

/** A real registry server on the loopback interface. */
export class Registry {
  readonly host: string;
  readonly #directory: string;
  readonly #process: ChildProcess;

  private constructor(host: string, directory: string, process: ChildProcess) {
    this.host = host;
    this.#directory = directory;
    this.#process = process;
  }

  static async open(): Promise<Registry> {
    const directory = mkdtempSync(path.join(tmpdir(), "torpor-registry-"));
    const config = path.join(directory, "config.yml");
    const http = { addr: "127.0.0.1:0" };
    writeFileSync(
      config,
      JSON.stringify({ version: 0.1, log: { level: "info" }, storage: { filesystem: { rootdirectory: directory } }, http }),
    );
    const child = spawn("docker-registry", ["serve", config], {
      stdio: ["ignore", "ignore", "pipe"],
      env: { PATH: process.env.PATH, OTEL_TRACES_EXPORTER: "none" },
    });
    return new Registry(await addressIn(child.stderr), directory, child);
  }

  /** Pushes an OCI layout's image under `repository:tag`. */
  push(layout: string, reference: string): void {
    execFileSync("skopeo", [
      "copy",
      "--quiet",
      "--insecure-policy",
      "--dest-tls-verify=false",
      `oci:${layout}`,
      `docker://${this.host}/${reference}`,
    ]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode === null) {
      const exited = once(this.#process, "exit");
      this.#process.kill("SIGKILL");
      await exited;
    }
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

/** Which the kernel gave it: one that was looked for before might be another's by the time that it is used. */
export function addressIn(log: NodeJS.ReadableStream): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const said: string[] = [];
  // Read on to its end: a full pipe would hold the registry up.
  createInterface(log)
    .on("line", (line) => {
      said.push(line);
      const [, address] = /listening on (127\.0\.0\.1:\d+)/.exec(line) ?? [];
      if (address !== undefined) resolve(address);
    })
    .once("close", () => reject(new Error(`docker-registry ended:\n${said.join("\n")}`)));
  return promise;
}
