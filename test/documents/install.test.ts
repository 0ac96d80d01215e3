import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readConfig } from "../../packages/daemon/src/config.ts";
import { blocksFor, root } from "./blocks.ts";

const blocks = blocksFor(import.meta.url);
const lines = blocks
  .filter(({ language }) => language === "text")
  .flatMap(({ text }) => text.trim().split("\n"))
  .map((line) => line.replace(/ +# .*$/, ""));

test.each(lines)("docs/operations.md: %s", (line) => {
  const [program = "", ...args] = line.split(" ");
  const names = args.filter((word) => !word.startsWith("-") && word !== "install");
  if (program === "packaging/install.sh")
    expect(installedBy(args)).toEqual(args.includes("--from") ? archives.map((name) => `dist/packages/${name}`) : all("latest"));
  else if (program === "docker") expectOfImage(args);
  else if (program === "pip") expect(names).toEqual([/^name = "(.*)"$/m.exec(read("sdks/python/pyproject.toml"))?.[1]]);
  else for (const name of names) expect(published.get(name)?.program, name).toBe(args.includes("-g"));
});

test("docs/operations.md: the lines of a unit file are taken", () => {
  const [{ text = "" } = {}] = blocks.filter(({ language }) => language === "ini");
  const set = text.trim().replace("Environment=", "").split(" ");
  const env = Object.fromEntries(set.map((each) => each.split(/=(.*)/s).slice(0, 2)));
  const { addresses, publicUrl } = readConfig([], env).listening;
  expect(addresses).toEqual([{ host: "127.0.0.1", port: 7867, spare: 0 }]);
  expect(publicUrl?.origin).toBe(env.TORPOR_PUBLIC_URL);
});

const archives = ["torpor-daemon-1.0.0.tgz", "torpor-runsc-linux-x64-1.0.0.tgz"];
const foreign = "torpor-runsc-linux-arm64-1.0.0.tgz";
const sources = ["packages/contract", "packages/core", "packages/daemon", "packages/cli", "sdks/typescript"];
/** What scripts/package makes, and whether there is a program in it. */
const published = new Map(
  sources.map((source) => {
    const { name, bin } = JSON.parse(read(`${source}/package.json`)) as { name: string; bin?: object };
    return [name, { program: bin !== undefined }] as const;
  }),
);

/** What an image does is shown by test/soak/packaging/image.test.ts; here, that the lines name what there is. */
function expectOfImage([verb, ...args]: readonly string[]): void {
  const dockerfile = read("packaging/Dockerfile");
  if (verb === "build") expect(args).toContain("packaging/Dockerfile");
  if (verb === "run") {
    expect(dockerfile).toContain(`VOLUME ${args[args.indexOf("-v") + 1]?.split(":")[1]}\n`);
    expect(dockerfile).toContain(`EXPOSE ${args[args.indexOf("-p") + 1]?.split(":")[2]}\n`);
  }
  expect(args.at(verb === "build" || verb === "run" ? -1 : 0)).toBe(verb === "build" ? "." : "torpord");
  for (const [, command] of args.join(" ").matchAll(/\btorpor (\w+)/g))
    expect(read("docs/reference/cli.md")).toContain(`torpor ${command}`);
}

function all(version: string): string[] {
  return [`@torpor/cli@${version}`, `@torpor/daemon@${version}`];
}

/** What the script has npm install, on a host that has all else and no systemd. */
function installedBy(args: readonly string[]): string[] {
  const host = mkdtempSync(path.join(tmpdir(), "torpor-install-"));
  onTestFinished(() => rmSync(host, { recursive: true }));
  for (const name of ["bin", "dist/packages"]) mkdirSync(path.join(host, name), { recursive: true });
  for (const name of [...archives, foreign]) writeFileSync(path.join(host, "dist/packages", name), "");
  const stand = (name: string, script: string) => writeFileSync(path.join(host, "bin", name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  stand("id", "echo 0");
  stand("uname", "echo Linux");
  stand("node", "echo x64");
  stand("dpkg-query", "echo 'install ok installed'");
  stand("torpor", "echo asked >asked");
  stand("npm", `if [ "$1" = prefix ]; then echo '${host}'; else echo "$@" >npm; fi`);
  const script = read("packaging/install.sh").replaceAll("/run/systemd/system", `${host}/none`);
  const env = { ...process.env, PATH: `${host}/bin:${process.env.PATH}` };
  execFileSync("sh", ["-s", "--", ...args], { cwd: host, env, input: script, stdio: ["pipe", "ignore", "ignore"] });
  expect(readFileSync(path.join(host, "asked"), "utf8")).toBe("asked\n");
  const words = readFileSync(path.join(host, "npm"), "utf8").trim().split(" ");
  expect(words[0]).toBe("install");
  return words.slice(1).flatMap((word) => (word.startsWith("-") ? [] : [word.replace(`${host}/`, "")]));
}

function read(file: string): string {
  return readFileSync(path.join(root, file), "utf8");
}
