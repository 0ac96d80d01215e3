import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

/** A program of a platform package that npm installed beside this one, such as @torpor/runsc-linux-x64; undefined when there is none. */
export function installedProgram(kind: "native" | "runsc", name: string): string | undefined {
  try {
    return createRequire(import.meta.url).resolve(`@torpor/${kind}-${process.platform}-${process.arch}/bin/${name}`);
  } catch {
    return undefined; // a checkout, an install without optional packages, or a platform that has none
  }
}

/** The first place that is there: an installed package has the built things in it, a checkout where they are built. Paths from `src`. */
export function builtDirectory(packed: string, built: string): string {
  const inPackage = fileURLToPath(new URL(`../${packed}`, import.meta.url));
  return existsSync(inPackage) ? inPackage : fileURLToPath(new URL(`../${built}`, import.meta.url));
}
