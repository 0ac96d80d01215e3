import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { emit } from "./emit.ts";
import { type Manifest, platformManifest, processors, publishedManifest } from "./manifest.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const sources = ["packages/contract", "packages/core", "packages/daemon", "packages/cli", "sdks/typescript"];

const [target, ...platforms] = process.argv.slice(2);
if (target === undefined) throw new Error("usage: scripts/package [DIRECTORY]");
packAll(path.resolve(root, target), platforms.map(readPlatform));

interface Platform {
  readonly cpu: keyof typeof processors;
  readonly runsc: string;
}

function packAll(directory: string, chosen: readonly Platform[]): void {
  const stage = path.join(directory, ".stage");
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(stage, { recursive: true });
  const compiled = path.join(stage, "compiled");
  emit(root, compiled);
  const version = manifestOf("packages/daemon").version;
  const packages = [
    ...sources.map((source) => stageSource(stage, source, path.join(compiled, source, "src"))),
    ...chosen.flatMap((platform) => stagePlatform(stage, platform, version)),
  ];
  // Without its scripts and in one go: npm takes half a second to start.
  execFileSync("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", directory, ...packages], {
    cwd: stage,
    stdio: ["ignore", "ignore", "inherit"],
  });
  rmSync(stage, { recursive: true });
  for (const name of readdirSync(directory).sort()) console.log(path.join(directory, name));
}

function stageSource(stage: string, source: string, compiled: string): string {
  const manifest = publishedManifest(manifestOf(source), manifestOf(".").devDependencies as Record<string, string>);
  const directory = begin(stage, manifest);
  cpSync(compiled, path.join(directory, "dist"), { recursive: true });
  if (manifest.name === "@torpor/daemon") {
    for (const name of ["docs", "packaging"]) cpSync(path.join(root, name), path.join(directory, name), { recursive: true });
    cpSync(path.join(root, "packages/web/dist"), path.join(directory, "page"), { recursive: true });
  }
  if (manifest.name === "@torpor/cli") cpSync(path.join(root, "docs/reference/torpor.1"), path.join(directory, "man/torpor.1"));
  return directory;
}

function stagePlatform(stage: string, { cpu, runsc }: Platform, version: string): string[] {
  const built = path.join(root, "native/bin", `linux-${processors[cpu]}`);
  const native = begin(stage, platformManifest("native", cpu, version));
  for (const name of ["torpor-guest", "torpor-connect", "torpor", "torpor-shim"]) addProgram(native, path.join(built, name));
  const engine = begin(stage, platformManifest("runsc", cpu, version));
  addProgram(engine, runsc);
  return [native, engine];
}

function begin(stage: string, manifest: Manifest): string {
  const directory = path.join(stage, manifest.name.replace("/", "-"));
  mkdirSync(directory);
  writeFileSync(path.join(directory, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  writeFileSync(path.join(directory, "README.md"), `# ${manifest.name}\n\n${manifest.description}.\n`);
  cpSync(path.join(root, "LICENSE"), path.join(directory, "LICENSE"));
  return directory;
}

function addProgram(directory: string, file: string): void {
  if (!existsSync(file)) throw new Error(`${file} is not built`);
  const target = path.join(directory, "bin", path.basename(file));
  cpSync(file, target);
  chmodSync(target, 0o755);
}

function manifestOf(source: string): Manifest {
  return JSON.parse(readFileSync(path.join(root, source, "package.json"), "utf8")) as Manifest;
}

/** `amd64=/path/of/runsc`, as scripts/package gives them. */
function readPlatform(text: string): Platform {
  const [, arch, runsc] = /^(\w+)=(.+)$/.exec(text) ?? [];
  const cpu = (Object.keys(processors) as (keyof typeof processors)[]).find((name) => processors[name] === arch);
  if (cpu === undefined || runsc === undefined) throw new Error(`${text} is no platform: amd64=RUNSC or arm64=RUNSC`);
  return { cpu, runsc };
}
