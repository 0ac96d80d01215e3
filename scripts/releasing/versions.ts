import { globSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

export interface VersionAt {
  /** File, and what in it. */
  readonly place: string;
  readonly version: string;
}

const manifests = ["package.json", "packages/*/package.json", "sdks/*/package.json", "scripts/*/package.json"];
const heading = /^## (\S+?)(, unreleased| \(\d{4}-\d\d-\d\d\))$/m;

/** Every place in the tree that says which version this is, or which one of our own packages it needs. */
export function readVersions(root: string): VersionAt[] {
  const text = (file: string) => readFileSync(path.join(root, file), "utf8");
  const found = globSync(manifests, { cwd: root }).flatMap((file) => inManifest(file, JSON.parse(text(file)) as Manifest));
  const lock = (JSON.parse(text("package-lock.json")) as { packages: Record<string, Manifest> }).packages;
  const locked = Object.entries(lock).filter(([at, { link }]) => !at.includes("node_modules/") && link !== true);
  return [
    ...found,
    ...locked.flatMap(([at, manifest]) => inManifest(`package-lock.json, ${at === "" ? "." : at}`, manifest)),
    { place: "sdks/python/pyproject.toml", version: /^version = "(.*)"$/m.exec(text("sdks/python/pyproject.toml"))?.[1] ?? "none" },
    { place: "CHANGELOG.md, first heading", version: heading.exec(text("CHANGELOG.md"))?.[1] ?? "none" },
  ];
}

/** Makes it the version everywhere; the changelog's first heading is what is worked on, or a new one is put before it. */
export function writeVersion(root: string, from: string, to: string): void {
  const change = (file: string, by: (text: string) => string) => {
    const at = path.join(root, file);
    writeFileSync(at, by(readFileSync(at, "utf8")));
  };
  const field = new RegExp(`("(?:version|@torpor/[a-z]+)": )"${from.replaceAll(".", "\\.")}"`, "g");
  for (const file of globSync(manifests, { cwd: root })) change(file, (text) => text.replaceAll(field, `$1"${to}"`));
  change("package-lock.json", (text) => {
    const lock = JSON.parse(text) as { version: string; packages: Record<string, Manifest> };
    lock.version = to;
    for (const [at, manifest] of Object.entries(lock.packages))
      if (!at.includes("node_modules/")) Object.assign(manifest, renamed(manifest, field, to));
    return `${JSON.stringify(lock, null, 2)}\n`;
  });
  change("sdks/python/pyproject.toml", (text) => text.replace(/^version = ".*"$/m, `version = "${to}"`));
  change("CHANGELOG.md", (text) =>
    text.replace(heading, (line, _version, state: string) =>
      state === ", unreleased" ? `## ${to}, unreleased` : `## ${to}, unreleased\n\n${line}`,
    ),
  );
}

/** The changelog on the day of the release. */
export function dateChangelog(text: string, day: string): string {
  return text.replace(heading, (_line, version: string) => `## ${version} (${day})`);
}

interface Manifest {
  readonly version?: string;
  readonly link?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

function inManifest(place: string, { version, dependencies, devDependencies }: Manifest): VersionAt[] {
  const ours = Object.entries({ ...dependencies, ...devDependencies }).filter(([name]) => name.startsWith("@torpor/"));
  return [{ place, version: version ?? "none" }, ...ours.map(([name, needed]) => ({ place: `${place}, ${name}`, version: needed }))];
}

function renamed(manifest: Manifest, field: RegExp, to: string): Manifest {
  return JSON.parse(JSON.stringify(manifest, null, 1).replaceAll(field, `$1"${to}"`)) as Manifest;
}
