import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { eventually } from "./inside.ts";

/** A real registry server on the loopback interface. */
export class Registry {
  readonly host: string;
  readonly #directory: string;
  readonly #process: ChildProcess;

  private constructor(host: string, directory: string) {
    this.host = host;
    this.#directory = directory;
    writeFileSync(
      path.join(directory, "config.yml"),
      JSON.stringify({
        version: 0.1,
        log: { level: "error" },
        storage: { filesystem: { rootdirectory: directory } },
        http: { addr: host },
      }),
    );
    this.#process = spawn("docker-registry", ["serve", path.join(directory, "config.yml")], { stdio: "ignore" });
  }

  static async open(): Promise<Registry> {
    const registry = new Registry(`127.0.0.1:${await freePort()}`, mkdtempSync(path.join(tmpdir(), "torpor-registry-")));
    await eventually(
      () => registry.#answers(),
      (answers) => answers,
    );
    return registry;
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

  async #answers(): Promise<boolean> {
    if (this.#process.exitCode !== null) {
      throw new Error(`docker-registry ended with ${this.#process.exitCode}`);
    }
    return fetch(`http://${this.host}/v2/`).then(
      ({ ok }) => ok,
      () => false,
    );
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}
