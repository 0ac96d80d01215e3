#!/usr/bin/env node
import { enableCompileCache } from "node:module";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";

// Compiled code is kept between runs: a command starts in half the time. In /tmp, the default, others could put theirs.
enableCompileCache(join(homedir() || tmpdir(), ".cache", "torpor"));
const { run } = await import("./app.ts");
await run(process.argv.slice(2));
