import { readFileSync } from "node:fs";

/** Of the package that this command is in. */
export function ownVersion(): string {
  const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string };
  return manifest.version;
}
