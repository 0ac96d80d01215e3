import { constants } from "node:fs";
import { access, chmod, copyFile, mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";
import { TorporError } from "@torpor/contract";
import { digest } from "../../host/digest.ts";
import { installedProgram } from "../../host/installed.ts";
import pin from "./pin.json" with { type: "json" };
import { probe } from "./probe.ts";

export interface EngineBinary {
  readonly path: string;
  readonly version: string;
  readonly sha256: string;
  /** Where it came from: env, data, package, cache, path. */
  readonly source: string;
}

/**
 * Finds the runsc to use and keeps it under its digest in the data directory, for as long as a checkpoint may need it.
 * Order: TORPOR_RUNSC; the kept build of the pinned version; the package beside this one; the shared cache that `scripts/bootstrap` fills; PATH.
 */
export async function resolveRunsc(
  dataDirectory: string,
  env: NodeJS.ProcessEnv,
  installed = installedProgram("runsc", "runsc"),
): Promise<EngineBinary> {
  const store = path.join(dataDirectory, "engines", "runsc");
  if (env.TORPOR_RUNSC === undefined) {
    const kept = (await keptBinaries(store)).find((binary) => binary.version === pin.version);
    if (kept !== undefined) {
      return { ...kept, source: "data" };
    }
  }
  const rejected: string[] = [];
  for (const { file, source } of candidates(env, installed)) {
    if (await isExecutable(file)) {
      const found = await probe(file);
      if (found.usable) {
        return keep(store, file, found.version, source);
      }
      rejected.push(`${file}: ${found.reason}`);
    } else if (source === "env") {
      rejected.push(`${file} (TORPOR_RUNSC) is not a program`);
    }
  }
  throw new TorporError(
    "engine_unavailable",
    `No usable gVisor engine (runsc) is on this host${rejected.length > 0 ? `: ${rejected.join("; ")}` : ""}`,
    {
      hint: `Install @torpor/runsc-${process.platform}-${process.arch}, run scripts/bootstrap in a checkout (it builds version ${pin.version}), or name a runsc by TORPOR_RUNSC.`,
      details: { rejected },
    },
  );
}

/** The kept binary with this digest: a checkpoint is restored by the very engine that made it. */
export async function keptRunsc(dataDirectory: string, sha256: string): Promise<EngineBinary | undefined> {
  return (await keptBinaries(path.join(dataDirectory, "engines", "runsc"))).find((binary) => binary.sha256 === sha256);
}

function candidates(env: NodeJS.ProcessEnv, installed: string | undefined): { file: string; source: string }[] {
  const named = env.TORPOR_RUNSC;
  if (named !== undefined) {
    return [{ file: named, source: "env" }];
  }
  const cache = path.join(env.XDG_CACHE_HOME ?? path.join(homedir(), ".cache"), "torpor", `runsc-${pin.version}`, "runsc");
  const onPath = (env.PATH ?? "")
    .split(":")
    .filter((directory) => path.isAbsolute(directory))
    .map((directory) => ({ file: path.join(directory, "runsc"), source: "path" }));
  const packed = installed === undefined ? [] : [{ file: installed, source: "package" }];
  return [...packed, { file: cache, source: "cache" }, ...onPath];
}

async function keptBinaries(store: string): Promise<EngineBinary[]> {
  const names = await readdir(store).catch(() => []);
  const kept = await Promise.all(
    names.map(async (sha256) => {
      try {
        const { version, source } = JSON.parse(await readFile(path.join(store, sha256, "engine.json"), "utf8")) as EngineBinary;
        return { path: path.join(store, sha256, "runsc"), version, sha256, source };
      } catch {
        return undefined; // a copy that was cut off: made again when it is needed
      }
    }),
  );
  return kept.filter((binary) => binary !== undefined);
}

async function keep(store: string, file: string, version: string, source: string): Promise<EngineBinary> {
  const sha256 = await digest(file);
  const directory = path.join(store, sha256);
  const target = path.join(directory, "runsc");
  await mkdir(directory, { recursive: true });
  if (!(await isExecutable(target))) {
    await copyFile(file, `${target}.new`, constants.COPYFILE_FICLONE);
    await chmod(`${target}.new`, 0o755);
    await rename(`${target}.new`, target);
  }
  await writeFile(path.join(directory, "engine.json"), JSON.stringify({ version, sha256, source }));
  return { path: target, version, sha256, source };
}

async function isExecutable(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}
