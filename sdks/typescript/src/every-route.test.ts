import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

/** Routes without a method, and why. All others need one in each client: a new route belongs into both, or here. */
const ofNoClient: Readonly<Record<string, string>> = {
  callWake: "for who has the address alone",
  callWakeByGet: "for who has the address alone",
  callWakeByPut: "for who has the address alone",
  healthz: "for balancers of load",
  metrics: "for Prometheus",
  login: "signs a browser in, by a cookie",
  logout: "signs a browser out",
  openapi: "what clients are made from",
};
const except: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "typescript/src": { ...ofNoClient, writeSession: "a WebSocket takes its input" },
  "python/src/torpor/_async": ofNoClient,
  "python/src/torpor/_sync": ofNoClient,
};

const sdks = fileURLToPath(new URL("../../", import.meta.url));
const { paths } = JSON.parse(readFileSync(`${sdks}../api/openapi.json`, "utf8")) as {
  paths: Record<string, Record<string, { operationId: string }>>;
};
const routes = Object.values(paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId));

test.each(Object.entries(except))("every route of the API has a method in %s, or a reason to have none", (client, reasons) => {
  const called = callsIn(`${sdks}${client}`);
  expect(routes.length).toBeGreaterThan(80);
  expect(routes.filter((route) => !called.has(route) && !(route in reasons))).toEqual([]);
  expect(
    Object.keys(reasons).filter((route) => called.has(route) || !routes.includes(route)),
    "reasons that are none any more",
  ).toEqual([]);
});

/** Names of routes that are handed to something: `json("getSandbox", …)`, `AsyncChange("pauseSandbox"`, and over two lines too. */
function callsIn(directory: string): ReadonlySet<string> {
  const files = readdirSync(directory, { recursive: true, encoding: "utf8" });
  // calls.ts has them all, in a table, and tests call what no client does.
  const sources = files.filter((file) => /\.(ts|py)$/.test(file) && !/(^calls\.ts|\.test\.ts|^testing\/.*)$/.test(file));
  const texts = sources.map((file) => readFileSync(`${directory}/${file}`, "utf8"));
  return new Set(texts.flatMap((text) => [...text.matchAll(/[(,]\s*"(\w+)"\s*[,)]/g)].map(([, name]) => name as string)));
}
