import { realpath } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { Gvisor, resolveRunsc } from "./engines/gvisor/index.ts";
import { keepGuest } from "./engines/oci/guest-binary.ts";
import { OciEngine, type OciEngineOptions } from "./engines/oci/oci-engine.ts";
import { openRunc } from "./engines/runc/runc.ts";

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

/** Built by scripts/bootstrap, by Go's names of platforms; TORPOR_NATIVE names another directory. */
export function nativeBinary(name: string): string {
  if (process.env.TORPOR_NATIVE !== undefined) {
    return path.join(process.env.TORPOR_NATIVE, name);
  }
  const architecture = process.arch === "x64" ? "amd64" : process.arch;
  return path.join(fileURLToPath(new URL("../../../native/bin", import.meta.url)), `linux-${architecture}`, name);
}
