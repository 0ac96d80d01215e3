// Preloaded for dependency-cruiser alone: it asks for `typescript` and needs the compiler API, which TypeScript 7 does not have, so it
// gets this workspace's TypeScript 6. (Its other parser, swc, knows no `using` declarations.)
import { createRequire, registerHooks } from "node:module";
import { pathToFileURL } from "node:url";

const { resolve } = createRequire(import.meta.url);
// Resolved before the hook is in place, which would otherwise call itself.
const here = new Map(["typescript", "typescript/package.json"].map((specifier) => [specifier, pathToFileURL(resolve(specifier)).href]));

registerHooks({
  resolve(specifier, context, next) {
    const url = here.get(specifier);
    return url === undefined ? next(specifier, context) : { url, shortCircuit: true };
  },
});
