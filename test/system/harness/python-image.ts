import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Registry } from "./registry.ts";
import { testImage } from "./test-image.ts";
import { layoutFromTar } from "./test-layout.ts";

/** The test image under Docker's name for Python, and as it behaves there: pip installs into the system, from the index that it is told of. */
export async function pushPython(registry: Registry): Promise<void> {
  const layout = mkdtempSync(path.join(tmpdir(), "torpor-layout-"));
  try {
    const pip = {
      BREAK_SYSTEM_PACKAGES: "1",
      ROOT_USER_ACTION: "ignore",
      DISABLE_PIP_VERSION_CHECK: "1",
      INDEX_URL: "http://pypi.test/simple",
      TRUSTED_HOST: "pypi.test",
    };
    const env = Object.entries(pip).map(([name, value]) => `PIP_${name}=${value}`);
    await layoutFromTar(layout, await testImage(), { Env: ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", ...env] });
    registry.push(layout, "library/python:3.12");
  } finally {
    rmSync(layout, { recursive: true, force: true });
  }
}
