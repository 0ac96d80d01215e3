import { expect, test } from "vitest";
import { platformManifest, publishedManifest } from "./manifest.ts";

const common = { version: "1.2.3", license: "Apache-2.0", type: "module" };

test("a published package names JavaScript, as values and as keys, and has neither tests nor tools", () => {
  const source = {
    name: "@torpor/sdk",
    ...common,
    private: true,
    scripts: { build: "x" },
    exports: { ".": "./src/index.ts", "./testing": "./src/testing/index.ts", "./testing/walk": "./src/testing/walk.ts" },
    imports: { "#copy": { browser: "./src/copy/browser.ts", default: "./src/copy/index.ts" } },
    browser: { "./src/endpoint.ts": "./src/browser/endpoint.ts" },
    dependencies: { "@torpor/contract": "1.2.3", ws: "8.0.0" },
    devDependencies: { vite: "8.0.0" },
  };
  expect(publishedManifest(source, { "@types/node": "24.0.0", "@types/ws": "8.1.0", "@types/pg": "8.2.0" })).toEqual({
    name: "@torpor/sdk",
    ...common,
    exports: { ".": "./dist/index.js" },
    imports: { "#copy": { browser: "./dist/copy/browser.js", default: "./dist/copy/index.js" } },
    browser: { "./dist/endpoint.js": "./dist/browser/endpoint.js" },
    dependencies: { "@torpor/contract": "1.2.3", ws: "8.0.0", "@types/node": "24.0.0", "@types/ws": "8.1.0" },
    files: ["dist"],
    publishConfig: { access: "public" },
  });
});

test("the daemon's package wants the programs and the engine of each platform, of its own version", () => {
  const published = publishedManifest({ name: "@torpor/daemon", ...common, bin: { torpord: "./src/main.ts" } }, {});
  expect(published).toMatchObject({
    bin: { torpord: "./dist/main.js" },
    optionalDependencies: {
      "@torpor/native-linux-arm64": "1.2.3",
      "@torpor/native-linux-x64": "1.2.3",
      "@torpor/runsc-linux-arm64": "1.2.3",
      "@torpor/runsc-linux-x64": "1.2.3",
    },
  });
  for (const name of Object.keys(published.optionalDependencies as object)) {
    const [, kind, cpu] = /^@torpor\/(native|runsc)-linux-(x64|arm64)$/.exec(name) ?? [];
    expect(platformManifest(kind as "native" | "runsc", cpu as "x64" | "arm64", "1.2.3")).toMatchObject({
      name,
      version: "1.2.3",
      os: ["linux"],
      cpu: [cpu],
    });
  }
});
