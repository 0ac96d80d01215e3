import { access, readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { run } from "../host/spawn.ts";
import { hasProgram } from "../host/tools.ts";
import { type AptSource, parseAptSources, selectAptSources } from "./apt-sources.ts";

export interface HostApt {
  readonly suite: string;
  /** Empty: the host says nothing of Debian's archive, mmdebstrap's own default serves. */
  readonly sources: readonly AptSource[];
  /** Settings for reaching the archive from this host; they may hold a secret and are not for the image. */
  readonly settings: string;
}

/** How this host reaches Debian's archive: mmdebstrap itself looks at none of it. */
export async function readHostApt(suite: string | undefined, root = "/etc"): Promise<HostApt> {
  const hostSuite = await readHostSuite(root);
  const sources = await readSources(path.join(root, "apt"));
  const wanted = suite ?? hostSuite ?? "stable";
  return {
    suite: wanted,
    sources: hostSuite === undefined ? [] : selectAptSources(sources, hostSuite, wanted),
    settings: [...(await readAcquireSettings()), ...(await authSettings(path.join(root, "apt")))].join("\n"),
  };
}

async function readHostSuite(root: string): Promise<string | undefined> {
  const text = await readFile(path.join(root, "os-release"), "utf8").catch(() => "");
  const field = (name: string) => new RegExp(`^${name}="?([a-z-]+)"?$`, "m").exec(text)?.[1];
  return field("ID") === "debian" ? field("VERSION_CODENAME") : undefined;
}

async function readSources(apt: string): Promise<AptSource[]> {
  const parts = path.join(apt, "sources.list.d");
  const names = (await readdir(parts).catch(() => [])).sort().map((name) => path.join(parts, name));
  const all = [path.join(apt, "sources.list"), ...names].map(async (file) => {
    if (!file.endsWith(".list") && !file.endsWith(".sources")) {
      return [];
    }
    return parseAptSources(await readFile(file, "utf8").catch(() => ""), file.endsWith(".list") ? "list" : "deb822");
  });
  return (await Promise.all(all)).flat();
}

/** Proxies, certificates and the like, as apt itself reads them from its files. */
async function readAcquireSettings(): Promise<string[]> {
  if (!(await hasProgram("apt-config"))) {
    return [];
  }
  const { stdout } = await run("apt-config", ["dump", "Acquire"]);
  return stdout
    .split("\n")
    .filter((line) => /^Acquire::(https?::|Check-(Valid-Until|Date) |Retries |ForceIPv[46] )/i.test(line) && !line.endsWith('"";'));
}

async function authSettings(apt: string): Promise<string[]> {
  const named = [
    ["Dir::Etc::netrc", path.join(apt, "auth.conf")],
    ["Dir::Etc::netrcparts", path.join(apt, "auth.conf.d")],
  ] as const;
  const there = await Promise.all(
    named.map(async ([name, file]) =>
      access(file).then(
        () => [`${name} "${file}";`],
        () => [],
      ),
    ),
  );
  return there.flat();
}
