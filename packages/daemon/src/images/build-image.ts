import { writeFile } from "node:fs/promises";
import path from "node:path";
import { type BuildImageRequest, TorporError } from "@torpor/contract";
import type { Progress } from "@torpor/core";
import { CommandError, run } from "../host/spawn.ts";
import { formatAptSources } from "./apt-sources.ts";
import { type HostApt, readHostApt } from "./host-apt.ts";
import { wrapRootfs } from "./rootfs-layout.ts";
import type { Workspace } from "./workspace.ts";

/** Beside Debian's minbase. procps and curl: people expect ps, pgrep and curl, as Docker's image of Python has them. */
const defaultPackages = ["python3", "python3-pip", "python3-venv", "git", "ca-certificates", "procps", "curl"];

/** Makes an OCI layout of a new Debian: about half a minute where the archive is near. */
export async function buildToLayout(space: Workspace, request: BuildImageRequest, progress: Progress): Promise<string> {
  const apt = await readHostApt(request.suite);
  const packages = request.packages ?? defaultPackages;
  const tar = path.join(space.path, "debian.tar");
  progress({ step: "build", text: `Installing Debian ${apt.suite} with ${packages.join(", ") || "nothing more"}` });
  try {
    await run("mmdebstrap", await argumentsFor(space, apt, packages, tar), {
      signal: space.signal,
      env: { TMPDIR: space.path, SOURCE_DATE_EPOCH: startOfDay() },
      onLine: (line) => progress({ step: "build", text: line.replace(/^I: /, "") }),
    });
  } catch (cause) {
    throw cause instanceof CommandError && cause.ending === "exit" ? buildFailure(apt.suite, cause) : cause;
  }
  progress({ step: "build", text: "Packing the root file system" });
  // Else pip refuses to install outside a virtual environment; in a sandbox, as in Docker's image, there is nothing to protect from it.
  return await wrapRootfs(space, tar, { env: { LANG: "C.UTF-8", PIP_BREAK_SYSTEM_PACKAGES: "1" }, cmd: ["bash"] });
}

async function argumentsFor(space: Workspace, apt: HostApt, packages: readonly string[], tar: string): Promise<string[]> {
  const settings = path.join(space.path, "apt.conf");
  const sources = path.join(space.path, "debian.sources");
  await writeFile(settings, `${apt.settings}\n`, { mode: 0o600 });
  await writeFile(sources, formatAptSources(apt.sources), { mode: 0o600 });
  const secretSources = apt.sources.some(({ uris }) => uris.some((uri) => /\/\/[^/]*@/.test(uri)));
  return [
    "--mode=root",
    "--variant=minbase",
    "--format=tar",
    ...(packages.length === 0 ? [] : [`--include=${packages.join(",")}`]),
    `--aptopt=${settings}`,
    ...slimOptions,
    // The hooks are constant words for a shell; "$1" is the new root. mmdebstrap left the settings of this host in it.
    `--customize-hook=rm -f "$1/etc/apt/apt.conf.d/99mmdebstrap"`,
    `--customize-hook=test ! -e "$1/usr/bin/python3" || ln -sf ../../bin/python3 "$1/usr/local/bin/python"`,
    // Of this host's network and name nothing stays; the engine gives each sandbox its own.
    `--customize-hook=echo localhost > "$1/etc/hostname"; : > "$1/etc/resolv.conf"; chmod 644 "$1/etc/hostname" "$1/etc/resolv.conf"`,
    `--customize-hook=chmod 644 "$1"/etc/apt/sources.list.d/*`,
    ...(secretSources ? [`--customize-hook=rm -f "$1"/etc/apt/sources.list.d/*`] : []),
    apt.suite,
    tar,
    ...(apt.sources.length === 0 ? [] : [sources]),
  ];
}

/** Nobody reads manuals in a sandbox: a third less to unpack. Licences stay. */
const slimOptions = [
  "--dpkgopt=path-exclude=/usr/share/man/*",
  "--dpkgopt=path-exclude=/usr/share/locale/*",
  "--dpkgopt=path-exclude=/usr/share/info/*",
  "--dpkgopt=path-exclude=/usr/share/doc/*",
  "--dpkgopt=path-include=/usr/share/doc/*/copyright",
];

/** Makes builds of one day equal. Not a constant in the past: times of byte code must not lie before those of its sources. */
function startOfDay(): string {
  const dayS = 24 * 60 * 60;
  return String(Math.floor(Date.now() / 1_000 / dayS) * dayS);
}

function buildFailure(suite: string, cause: CommandError): TorporError {
  const words = cause.stderr
    .split("\n")
    .filter((line) => line.startsWith("E: "))
    .map((line) => line.slice(3));
  if (/unable to locate package|no installation candidate|unmet dependencies/i.test(cause.stderr)) {
    return new TorporError("invalid_request", `Debian ${suite} has not all the packages: ${words.join("; ")}`, { cause });
  }
  return new TorporError("registry_failed", `The image of Debian ${suite} could not be built: ${words.join("; ") || cause.message}`, {
    hint: "Check that apt-get update works on this host.",
    cause,
  });
}
