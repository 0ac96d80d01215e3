// Who may import whom. Each rule reads: from there, not to that. docs/decisions has the reasons.

const part = (name) => `^packages/${name}/`;
const daemon = (folders) => `^packages/daemon/src/(${folders})(/|\\.ts$)`;
const tests = "\\.test\\.ts$|/testing/";
const otherPackages = (...allowed) => `^(packages/(?!(${allowed.join("|")})/)|sdks/typescript/)`;

export default {
  forbidden: [
    {
      name: "contract-imports-zod-only",
      comment: "The contract is what both sides speak, in a browser too.",
      severity: "error",
      from: { path: `${part("contract")}src/`, pathNot: `${tests}|-main\\.ts$` },
      to: { pathNot: `${part("contract")}src/|^node_modules/zod/` },
    },
    {
      name: "core-imports-contract-only",
      comment: "The lifecycle reaches the world through ports; anything else would not run on the in-memory adapters.",
      severity: "error",
      from: { path: `${part("core")}src/`, pathNot: tests },
      to: { pathNot: `${part("(core|contract)")}src/` },
    },
    {
      name: "core-tests-stay-in-core",
      severity: "error",
      from: { path: `${part("core")}src/`, pathNot: "^$" },
      to: { path: otherPackages("core", "contract") },
    },
    {
      name: "testing-stays-out-of-products",
      comment: "In-memory adapters and conformance suites are for tests.",
      severity: "error",
      from: { path: "^(packages|sdks/typescript)/", pathNot: tests },
      to: { path: "/src/testing/" },
    },
    {
      name: "daemon-imports-core-and-contract",
      severity: "error",
      from: { path: part("daemon"), pathNot: tests },
      to: { path: otherPackages("daemon", "core", "contract") },
    },
    {
      name: "sdk-imports-contract",
      severity: "error",
      from: { path: "^sdks/typescript/", pathNot: tests },
      to: { path: "^packages/(?!contract/)" },
    },
    {
      name: "sdk-tests-use-the-daemon-through-testing",
      severity: "error",
      from: { path: "^(sdks/typescript|packages/cli|packages/web)/.*(\\.test\\.ts$|/testing/)" },
      to: { path: "^packages/(core/|daemon/src/(?!testing/))" },
    },
    {
      name: "cli-and-web-import-sdk-and-contract",
      severity: "error",
      from: { path: part("(cli|web)"), pathNot: tests },
      to: { path: "^packages/(?!(cli|web|contract)/)" },
    },
    {
      name: "web-runs-in-a-browser",
      comment: "All but one file of the SDK needs Node.js.",
      severity: "error",
      from: { path: `${part("web")}src/`, pathNot: tests },
      to: { path: "^sdks/typescript/", pathNot: "/session-protocol\\.ts$" },
    },
    {
      name: "web-takes-types-of-the-contract",
      comment: "Its schemas would bring zod into the page. What has no schema may be used.",
      severity: "error",
      from: { path: `${part("web")}src/`, pathNot: tests },
      to: { path: part("contract"), pathNot: "/src/(error|frame)\\.ts$", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "cli-and-web-are-strangers",
      severity: "error",
      from: { path: "^packages/(cli|web)/" },
      to: { path: "^packages/(cli|web)/", pathNot: "^packages/$1/" },
    },
    {
      name: "drivers-know-no-stores-and-no-http",
      severity: "error",
      from: { path: daemon("engines|disks|images|network|checkpoints|guest|host|receivers"), pathNot: tests },
      to: { path: daemon("stores|http") },
    },
    {
      name: "stores-know-no-drivers-and-no-http",
      severity: "error",
      from: { path: daemon("stores"), pathNot: tests },
      to: { path: daemon("engines|disks|images|network|checkpoints|guest|receivers|http") },
    },
    {
      name: "http-calls-operations-only",
      severity: "error",
      from: { path: daemon("http"), pathNot: tests },
      to: { path: daemon("engines|stores|disks|images|network|checkpoints|guest|receivers") },
    },
    {
      name: "only-compose-composes",
      comment: "Nothing but the entry point may know the file that puts the adapters together.",
      severity: "error",
      from: { path: part("daemon"), pathNot: `${tests}|${daemon("main")}` },
      to: { path: daemon("compose|main") },
    },
    { name: "no-cycles", severity: "error", from: {}, to: { circular: true } },
    {
      name: "nothing-unresolvable",
      severity: "error",
      from: {},
      to: { couldNotResolve: true, pathNot: "^node$" },
    },
  ],
  options: {
    // Imports of types count too.
    tsPreCompilationDeps: true,
    doNotFollow: { path: "node_modules|/dist/" },
    exclude: { path: "packages/daemon/src/guest/protocol/" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "default"],
      extensions: [".ts", ".tsx", ".js", ".json"],
    },
  },
};
