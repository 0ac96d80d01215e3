import { writeFileSync } from "node:fs";
import { renderReference } from "./reference.ts";

/** Writes docs/reference/cli.md: run it after a change of a command. */
writeFileSync(new URL("../../../docs/reference/cli.md", import.meta.url), await renderReference());
