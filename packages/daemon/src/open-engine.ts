import { existsSync } from "node:fs";
import { realpath } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { TorporError } from "@torpor/contract";
import { Gvisor, resolveRunsc } from "./engines/gvisor/index.ts";
import { keepGuest } from "./engines/oci/guest-binary.ts";
import { OciEngine, type OciEngineOptions } from "./engines/oci/oci-engine.ts";
import { openRunc } from "./engines/runc/runc.ts";
import { installedProgram } from "./host/installed.ts";

export interface EngineSettings extends Pick<OciEngineOptions, "instance" | "resolverOnLoopback"> {
  readonly engine: "gvisor" | "runc";
  readonly dataDirectory: string;
}

/** Makes ready the engine that the configuration names; fails with `engine_unavailable` and the next step if it can't be. */
export async function openEngine({ engine, dataDirectory, ...options }: EngineSettings): Promise<OciEngine> {
  const guest = await keepGuest(dataDirectory, ["torpor-guest", "torpor-connect", "torpor"].map(nativeBinary));
  const runtime =
    engine === "gvisor" ? await Gvisor.create(await resolveRunsc(dataDirectory, process.env), guest, dataDirectory) : await openRunc(guest);
  return new OciEngine(runtime, { ...options, dataDirectory: await realpath(dataDirectory), shimPath: nativeBinary("torpor-shim") });
}

/** TORPOR_NATIVE names a directory; else of the platform package beside this one, else built by scripts/bootstrap, by Go's names of platforms. */
export function nativeBinary(name: string): string {
  if (process.env.TORPOR_NATIVE !== undefined) {
    return path.join(process.env.TORPOR_NATIVE, name);
  }
  const installed = installedProgram("native", name);
  if (installed !== undefined) {
    return installed;
  }
  const architecture = process.arch === "x64" ? "amd64" : process.arch;
  const built = path.join(fileURLToPath(new URL("../../../native/bin", import.meta.url)), `linux-${architecture}`, name);
  if (!existsSync(built)) {
    throw new TorporError(
      "engine_unavailable",
      `${name}, which runs with each sandbox, is not installed: no package has it, nor is it built`,
      {
        hint: `Install @torpor/native-${process.platform}-${process.arch} (an optional dependency of @torpor/daemon), or in a checkout run scripts/bootstrap.`,
      },
    );
  }
  return built;
}
