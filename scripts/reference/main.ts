import { readFileSync, writeFileSync } from "node:fs";
import { renderCrossings, renderFailpoints, renderStates } from "@torpor/core/reference";
import { proofs } from "@torpor/core/testing/proofs";

/** Writes what docs/reference has of the lifecycle's tables: run it after a change of them. */
const root = new URL("../../", import.meta.url);
const shim = readFileSync(new URL("native/internal/shim/failpoint.go", root), "utf8");
const pages = { crossings: renderCrossings(proofs), states: renderStates(proofs), failpoints: renderFailpoints(shim) };
for (const [name, text] of Object.entries(pages)) writeFileSync(new URL(`docs/reference/${name}.md`, root), text);
