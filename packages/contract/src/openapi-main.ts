/// <reference types="node" />
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { renderApi } from "./openapi-render.ts";

/** Writes api/: run it after a change of the contract. */
for (const [name, text] of Object.entries(renderApi())) {
  writeFileSync(fileURLToPath(new URL(`../../../api/${name}`, import.meta.url)), text);
}
