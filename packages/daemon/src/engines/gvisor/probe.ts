import { run } from "../../host/spawn.ts";

export type Probe =
  | { readonly usable: true; readonly version: string }
  | { readonly usable: false; readonly version: string | null; readonly reason: string };

/** Debian's packages of these dates restore neither in the background nor into a running source. */
const tooOld = ["20221219", "20240729"];

/** What every step needs, asked of the binary itself: a version says little about builds by others. */
const needed = [
  { help: ["help", "restore"], flag: "background", why: "large sandboxes would not answer before all memory is read" },
  { help: ["help", "checkpoint"], flag: "leave-running", why: "a failed pause would lose the sandbox" },
  { help: ["flags"], flag: "shared-root", why: "each runtime would leave a mount behind" },
  { help: ["flags"], flag: "allow-suid", why: "sudo would do nothing inside" },
  { help: ["flags"], flag: "overlay2", why: "files would be part of the memory image" },
] as const;

/** Finds out whether a runsc can do all that the engine needs. */
export async function probe(path: string): Promise<Probe> {
  let version: string | undefined;
  try {
    version = /^runsc version (\S+)/m.exec((await run(path, ["--version"], { timeLimitMs: 10_000 })).stdout)?.[1];
  } catch (error) {
    return { usable: false, version: null, reason: `it does not start: ${(error as Error).message}` };
  }
  if (version === undefined) {
    return { usable: false, version: null, reason: "it does not say that it is runsc" };
  }
  const old = tooOld.find((date) => version.includes(date));
  if (old !== undefined) {
    return { usable: false, version, reason: `version ${version} is a distribution's package of ${old}, too old` };
  }
  for (const { help, flag, why } of needed) {
    const { stdout, stderr } = await run(path, help, { timeLimitMs: 10_000 });
    if (!new RegExp(`(^|\\s)-+${flag}\\b`, "m").test(stdout + stderr)) {
      return { usable: false, version, reason: `version ${version} has no -${flag}: ${why}` };
    }
  }
  return { usable: true, version };
}
