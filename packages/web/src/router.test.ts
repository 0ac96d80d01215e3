import { expect, test } from "vitest";
import { pathTo, pathToDirectory, placeOf } from "./router.ts";

test("a terminal's link leads to it", () => {
  const path = pathTo("base", "terminal", "se_1", "try-a");
  expect(path).toBe("/sandboxes/base/terminal/se_1?beside=try-a");
  const { pathname, search } = new URL(path, "http://x");
  expect(placeOf(pathname, search)).toEqual({ at: "sandbox", name: "base", tab: "terminal", session: "se_1", beside: "try-a" });
});

test.each(["/", "/usr/share/doc", "/a b/ä?&=#+%2F/..."])("the link of directory %s leads to it", (directory) => {
  const { pathname, search } = new URL(pathToDirectory("base", directory), "http://x");
  expect(placeOf(pathname, search)).toMatchObject({ at: "sandbox", name: "base", tab: "files", directory });
  expect(search.startsWith("?directory=/")).toBe(true);
});

test("a directory is taken from the root, and without one it is the sandbox's own", () => {
  expect(placeOf("/sandboxes/base/files", "?directory=usr")).toMatchObject({ directory: "/usr" });
  expect(placeOf("/sandboxes/base/files")).toMatchObject({ tab: "files", directory: undefined });
});

test("a sandbox alone is its terminal, and the root is the list", () => {
  expect(placeOf("/sandboxes/base")).toMatchObject({ at: "sandbox", tab: "terminal", session: undefined });
  expect(placeOf("/")).toEqual({ at: "sandboxes" });
  expect(placeOf("/family/")).toEqual({ at: "family" });
});

test.each(["/x", "/sandboxes/a/nothing", "/sandboxes/a/files/b/c", "/sandboxes/%E0%A4%A/nothing"])("%s is nowhere", (path) => {
  expect(placeOf(path)).toEqual({ at: "nowhere" });
});
