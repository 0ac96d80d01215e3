import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { TorporError } from "@torpor/contract";

/** The files of one runtime, as the shim has them too (native/internal/shim/config.go). */
export interface RuntimeDirectory {
  readonly path: string;
  readonly description: string;
  readonly bundle: string;
  readonly root: string;
  readonly namespace: string;
  readonly shimSocket: string;
  readonly guestSocket: string;
  readonly shimLog: string;
  readonly guestLog: string;
  /** The engine's own state; one a runtime, so that nothing of it is left when the directory is. */
  readonly engineState: string;
}

const runtimeIdShape = /^rt_[a-z0-9]{16}$/;

/** Runtimes of one data directory, below /run: sockets' paths must be short (108 bytes), whatever the data directory is. */
export class RuntimeDirectories {
  readonly base: string;
  /** Where runtimes' control groups are, on a host of version 1 and of version 2; the shim frees a runtime's processes by them. */
  readonly #groups: readonly string[];
  constructor(instance: string) {
    this.base = path.join("/run/torpor", instance);
    this.#groups = ["/sys/fs/cgroup/memory", "/sys/fs/cgroup"].map((root) => path.join(root, `torpor-${instance}`));
  }

  at(runtimeId: string): RuntimeDirectory {
    if (!runtimeIdShape.test(runtimeId)) {
      throw new TorporError("internal", `${JSON.stringify(runtimeId)} is not the id of a runtime`);
    }
    const directory = path.join(this.base, runtimeId);
    return {
      path: directory,
      description: path.join(directory, "runtime.json"),
      bundle: path.join(directory, "bundle"),
      root: path.join(directory, "root"),
      namespace: path.join(directory, "netns"),
      shimSocket: path.join(directory, "shim.sock"),
      guestSocket: path.join(directory, "guest.sock"),
      shimLog: path.join(directory, "shim.log"),
      guestLog: path.join(directory, "guest.log"),
      engineState: path.join(directory, "engine"),
    };
  }

  async create(runtimeId: string, description: object, spec: object): Promise<RuntimeDirectory> {
    const directory = this.at(runtimeId);
    await mkdir(directory.bundle, { recursive: true, mode: 0o700 });
    await Promise.all([
      writeFile(directory.description, JSON.stringify(description), { mode: 0o600 }),
      writeFile(path.join(directory.bundle, "config.json"), JSON.stringify(spec), { mode: 0o600 }),
    ]);
    return directory;
  }

  /** By their control groups too: somebody may have cleaned /run. */
  async list(): Promise<string[]> {
    const names = await Promise.all([this.base, ...this.#groups].map((place) => readdir(place).catch(() => [])));
    return [...new Set(names.flat().filter((name) => runtimeIdShape.test(name)))];
  }

  /** Whether a runtime still holds anything by which it can be found and freed. */
  exists(runtimeId: string): boolean {
    return [this.base, ...this.#groups].some((place) => existsSync(path.join(place, runtimeId)));
  }

  /** By the shim's own note: it started the runtime and has not seen its end. */
  async isLive(runtimeId: string): Promise<boolean> {
    const text = await readFile(path.join(this.at(runtimeId).path, "state.json"), "utf8").catch(() => "{}");
    return (JSON.parse(text) as { phase?: string }).phase === "live";
  }

  async log(runtimeId: string, limitBytes: number): Promise<string> {
    const directory = this.at(runtimeId);
    const texts = await Promise.all([directory.shimLog, directory.guestLog].map((file) => readFile(file, "utf8").catch(() => "")));
    return texts.join("").slice(-limitBytes);
  }
}
