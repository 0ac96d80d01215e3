import { writeFileSync } from "node:fs";
import { renderManual } from "./manual.ts";
import { renderReference } from "./reference.ts";

/** Writes docs/reference/cli.md and torpor.1: run it after a change of a command. */
const reference = await renderReference();
writeFileSync(new URL("../../../docs/reference/cli.md", import.meta.url), reference);
writeFileSync(new URL("../../../docs/reference/torpor.1", import.meta.url), renderManual(reference));
