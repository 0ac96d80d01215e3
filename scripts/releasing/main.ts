import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { dateChangelog, readVersions, writeVersion } from "./versions.ts";

/** The steps of scripts/release that read and write versions: agree (prints the one version), bump VERSION, date. */
const root = fileURLToPath(new URL("../..", import.meta.url));
const changelog = path.join(root, "CHANGELOG.md");
const [step, wanted] = process.argv.slice(2);
const version = agreed();
if (step === "agree") console.log(version);
else if (step === "bump") bump(wanted ?? "");
else if (step === "date") writeFileSync(changelog, dateChangelog(readFileSync(changelog, "utf8"), new Date().toISOString().slice(0, 10)));
else fail("the steps are agree, bump VERSION and date");

function agreed(): string {
  const found = readVersions(root);
  const first = found[0]?.version ?? "none";
  const other = found.filter((at) => at.version !== first);
  if (other.length > 0) fail(`the version is ${first}, and these differ:\n${other.map((at) => `  ${at.version}  ${at.place}`).join("\n")}`);
  return first;
}

function bump(to: string): void {
  if (!/^\d+\.\d+\.\d+(-[0-9a-z.]+)?$/.test(to)) fail(`${JSON.stringify(to)} is no version: it looks like 1.2.3`);
  writeVersion(root, version, to);
  console.log(`${version} is ${to} now; CHANGELOG.md has a heading for it`);
}

function fail(message: string): never {
  console.error(`error: ${message}`);
  process.exit(1);
}
