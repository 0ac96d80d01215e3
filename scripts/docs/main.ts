import { fileURLToPath } from "node:url";
import { buildSite } from "./site.ts";

/** main.ts DIRECTORY: builds the documents there. */
const [into] = process.argv.slice(2);
if (into === undefined) throw new Error("main.ts needs the directory to build into");
await buildSite({ root: fileURLToPath(new URL("../../", import.meta.url)), into });
