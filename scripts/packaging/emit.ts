import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

/** Compiles the packages' sources into the directory, as JavaScript with declarations, each at the path that it has in the checkout. */
export function emit(root: string, directory: string): void {
  const compiler = path.join(root, "node_modules/typescript/bin/tsc");
  execFileSync(process.execPath, [compiler, "-p", path.join(root, "scripts/packaging/tsconfig.json"), "--outDir", directory], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  for (const name of readdirSync(directory, { recursive: true, encoding: "utf8" })) {
    if (name.endsWith(".d.ts")) renameImports(path.join(directory, name));
  }
}

/** The compiler renames imports of .ts files in JavaScript, and leaves them in declarations. */
function renameImports(file: string): void {
  const text = readFileSync(file, "utf8");
  writeFileSync(file, text.replaceAll(/((?:from|import) ?\(?)"(\.{1,2}\/[^"]*)\.ts"/g, '$1"$2.js"'));
}
