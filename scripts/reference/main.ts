import { writeFileSync } from "node:fs";
import { renderCrossings } from "@torpor/core/reference";

/** Writes docs/reference/crossings.md: run it after a change of the lifecycle's tables. */
writeFileSync(new URL("../../docs/reference/crossings.md", import.meta.url), renderCrossings());
