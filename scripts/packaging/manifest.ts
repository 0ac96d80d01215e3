type Json = string | boolean | number | null | readonly Json[] | { readonly [key: string]: Json };

export type Manifest = { readonly name: string; readonly version: string } & { readonly [key: string]: Json };

/** Processors by the names of npm and of Go. */
export const processors = { x64: "amd64", arm64: "arm64" } as const;

/**
 * package.json of a published package from that of the checkout: it names JavaScript in `dist`, and has nothing that only a checkout has.
 * `tools` are the development dependencies of the whole checkout, the types of others' packages among them.
 */
export function publishedManifest(source: Manifest, tools: Readonly<Record<string, string>>): Manifest {
  const { private: _, scripts: __, devDependencies: ___, ...kept } = source;
  const folders = source.name === "@torpor/daemon" ? ["docs", "packaging", "page"] : source.name === "@torpor/cli" ? ["man"] : [];
  return {
    ...kept,
    ...(kept.exports === undefined ? {} : { exports: withoutTesting(kept.exports) }),
    ...pick(kept, ["bin", "imports", "browser"], compiled),
    ...(source.name === "@torpor/daemon" ? { optionalDependencies: platformDependencies(source.version) } : {}),
    ...(source.name === "@torpor/sdk" ? { dependencies: withTypes(source.dependencies as Readonly<Record<string, string>>, tools) } : {}),
    ...(source.name === "@torpor/cli" ? { man: ["./man/torpor.1"] } : {}),
    files: ["dist", ...folders],
    publishConfig: { access: "public" },
  };
}

/** Of a package that holds programs for one platform alone: npm installs the one that fits the machine, and passes over the others. */
export function platformManifest(kind: "native" | "runsc", cpu: keyof typeof processors, version: string): Manifest {
  const what =
    kind === "native"
      ? "Torpor's programs in and around each sandbox"
      : "The engine of Torpor's sandboxes, gVisor's runsc, of the pinned version";
  return {
    name: `@torpor/${kind}-linux-${cpu}`,
    version,
    description: `${what}, for Linux on ${cpu}`,
    license: "Apache-2.0",
    os: ["linux"],
    cpu: [cpu],
    files: ["bin"],
    publishConfig: { access: "public" },
  };
}

function platformDependencies(version: string): Record<string, string> {
  const names = (["native", "runsc"] as const).flatMap((kind) => Object.keys(processors).map((cpu) => `@torpor/${kind}-linux-${cpu}`));
  return Object.fromEntries(names.map((name) => [name, version]));
}

/** Its declarations name those of Node.js and of what it depends on, and who compiles against it should not have to find that out. */
function withTypes(dependencies: Readonly<Record<string, string>>, tools: Readonly<Record<string, string>>): Record<string, string> {
  const types = ["node", ...Object.keys(dependencies)].flatMap((name) => {
    const version = tools[`@types/${name}`];
    return version === undefined ? [] : [[`@types/${name}`, version] as const];
  });
  return { ...dependencies, ...Object.fromEntries(types) };
}

/** In-memory adapters and conformance suites are for the tests of a checkout. */
function withoutTesting(exports: Json): Json {
  return Object.fromEntries(Object.entries(compiled(exports) as object).filter(([name]) => !/^\.\/testing(\/|$)/.test(name)));
}

function pick(manifest: { readonly [key: string]: Json }, names: readonly string[], change: (value: Json) => Json): Record<string, Json> {
  return Object.fromEntries(names.flatMap((name) => (manifest[name] === undefined ? [] : [[name, change(manifest[name])]])));
}

/** ./src/x.ts is ./dist/x.js, as a value and as a key. */
function compiled(value: Json): Json {
  if (typeof value === "string") return value.replace(/^\.\/src\/(.*)\.ts$/, "./dist/$1.js");
  if (Array.isArray(value)) return value.map(compiled);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [compiled(key) as string, compiled(inner)]));
}
