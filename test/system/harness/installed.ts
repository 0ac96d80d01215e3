import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import path from "node:path";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { CliResult } from "./torpor-command.ts";

const checkout = fileURLToPath(new URL("../../..", import.meta.url));

/** The published packages, made and installed by npm in a folder where nothing else is; what runs there sees neither checkout, cache nor Go. */
export class Installed {
  readonly directory: string;
  readonly data: string;
  readonly #environment: NodeJS.ProcessEnv;

  private constructor(directory: string) {
    this.directory = directory;
    this.data = path.join(directory, "data");
    this.#environment = {
      PATH: "/usr/sbin:/usr/bin:/sbin:/bin",
      HOME: path.join(directory, "home"),
      TORPOR_DATA: this.data,
      TORPOR_LISTEN: "off",
    };
  }

  static make(): Installed {
    const directory = mkdtempSync(path.join(tmpdir(), "torpor-installed-"));
    const packages = path.join(directory, "packages");
    const app = path.join(directory, "app");
    execFileSync(path.join(checkout, "scripts/package"), [packages], { stdio: ["ignore", "ignore", "inherit"] });
    mkdirSync(app);
    writeFileSync(path.join(app, "package.json"), '{ "private": true, "type": "module" }\n');
    const files = readdirSync(packages).map((name) => path.join(packages, name));
    const quiet = ["--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"];
    execFileSync("npm", ["install", ...quiet, ...files], { cwd: app, stdio: ["ignore", "ignore", "inherit"] });
    return new Installed(directory);
  }

  /** The command of the installed package. */
  torpor(node: string, ...args: readonly string[]): Promise<CliResult> {
    return this.run(node, path.join(this.directory, "app/node_modules/.bin/torpor"), ...args);
  }

  /** A program of a user, a module in the folder that has the packages. */
  program(node: string, text: string): Promise<CliResult> {
    const file = path.join(this.directory, "app/program.js");
    writeFileSync(file, text);
    return this.run(node, file);
  }

  async run(file: string, ...args: readonly string[]): Promise<CliResult> {
    const child = spawn(file, args, { cwd: path.join(this.directory, "app"), env: this.#environment, stdio: ["ignore", "pipe", "pipe"] });
    const ended = once(child, "close") as Promise<[number | null]>;
    const [stdout, stderr, [code]] = await Promise.all([buffer(child.stdout), buffer(child.stderr), ended]);
    return { code, stdout: stdout.toString(), stderr: stderr.toString() };
  }

  remove(): Promise<void> {
    return rm(this.directory, { recursive: true, force: true });
  }
}

/** Of the versions that scripts/bootstrap keeps in the cache for this. */
export function otherNode(version: string): string {
  return path.join(process.env.XDG_CACHE_HOME ?? path.join(homedir(), ".cache"), "torpor", `node-${version}`, "node");
}
