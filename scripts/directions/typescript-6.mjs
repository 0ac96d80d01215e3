// Preloaded for dependency-cruiser alone: it asks for `typescript` and needs the compiler API, which TypeScript 7 does not have, so it
// gets this workspace's TypeScript 6. (Its other parser, swc, knows no `using` declarations.)
import { registerHooks } from "node:module";

registerHooks({
  resolve(specifier, context, next) {
    const wanted = specifier === "typescript" || specifier.startsWith("typescript/");
    return next(specifier, wanted ? { ...context, parentURL: import.meta.url } : context);
  },
});
