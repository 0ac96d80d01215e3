import { execFile, execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const checkout = fileURLToPath(new URL("../../..", import.meta.url));

/** The published packages, made and installed by npm in a folder where nothing else is; what runs there sees neither checkout, cache nor Go. */
export class Installed {
  readonly app: string;
  readonly data: string;
  readonly #directory: string;
  readonly #environment: NodeJS.ProcessEnv;

  private constructor(directory: string) {
    this.#directory = directory;
    this.app = path.join(directory, "app");
    this.data = path.join(directory, "data");
    const home = path.join(directory, "home");
    this.#environment = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", HOME: home, TORPOR_DATA: this.data, TORPOR_LISTEN: "off" };
  }

  static make(): Installed {
    const directory = mkdtempSync(path.join(tmpdir(), "torpor-installed-"));
    const packages = path.join(directory, "packages");
    execFileSync(path.join(checkout, "scripts/package"), [packages], { stdio: ["ignore", "ignore", "inherit"] });
    const installed = new Installed(directory);
    mkdirSync(installed.app);
    writeFileSync(path.join(installed.app, "package.json"), '{ "private": true, "type": "module" }\n');
    const files = readdirSync(packages).map((name) => path.join(packages, name));
    const quiet = ["--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"];
    execFileSync("npm", ["install", ...quiet, ...files], { cwd: installed.app, stdio: ["ignore", "ignore", "inherit"] });
    return installed;
  }

  /** What the installed command prints; rejects with its words when it fails. */
  torpor(node: string, ...args: readonly string[]): Promise<string> {
    return this.run(node, path.join(this.app, "node_modules/.bin/torpor"), ...args);
  }

  async run(file: string, ...args: readonly string[]): Promise<string> {
    try {
      return (await promisify(execFile)(file, args, { cwd: this.app, env: this.#environment })).stdout.trim();
    } catch (error) {
      const { stdout, stderr } = error as { stdout?: string; stderr?: string };
      throw new Error(`${file} ${args.join(" ")}: ${stdout ?? ""}${stderr ?? ""}`, { cause: error });
    }
  }

  /** The tour by the installed client, in TypeScript, on a sandbox of its own: gives what it saw. */
  async tour([file, ...args]: readonly [string, ...string[]], sandbox: string): Promise<unknown> {
    copyFileSync(path.join(checkout, "sdks/typescript/src/testing/tour.ts"), path.join(this.app, "tour.ts"));
    const main = `import { tour } from "./tour.ts";\nconsole.log(JSON.stringify(await tour({}, "${sandbox}")));\n`;
    writeFileSync(path.join(this.app, "tour-main.ts"), main);
    return JSON.parse(await this.run(file, ...args, "tour-main.ts"));
  }

  /** With its sandboxes, which only a daemon can remove; nothing when that was done. */
  async endDaemon(node: string): Promise<void> {
    if (!existsSync(this.data)) return;
    await this.torpor(node, "daemon", "start");
    await this.torpor(node, "daemon", "stop", "--remove-data");
  }

  remove(): Promise<void> {
    return rm(this.#directory, { recursive: true, force: true });
  }
}

/** The oldest and the newest that the packages are for, as scripts/lib/nodes.sh keeps them in the cache. */
export const otherNodes: readonly string[] = [cached("node-22.18.0/node"), cached("node-26.12.1/node")];

/** What else runs the client: each with the arguments that stand before a program. */
export const otherRuntimes: readonly (readonly [string, ...string[]])[] = [
  [cached("bun-1.4.5/bun"), "run"],
  [cached("deno-2.9.6/deno"), "run", "--allow-all", "--no-remote"],
];

function cached(name: string): string {
  return path.join(process.env.XDG_CACHE_HOME ?? path.join(homedir(), ".cache"), "torpor", name);
}

/** A user's program, by the installed client: has the sandbox say the version of Node.js that the program runs on. */
export function greet(installed: Installed, node: string, sandbox: string): Promise<string> {
  const file = path.join(installed.app, "greet.js");
  writeFileSync(
    file,
    `import { Torpor } from "@torpor/sdk";
     const torpor = new Torpor();
     const { stdout } = await (await torpor.get(${JSON.stringify(sandbox)})).exec("echo " + process.version);
     process.stdout.write(stdout);
     await torpor[Symbol.asyncDispose]();\n`,
  );
  return installed.run(node, file);
}
