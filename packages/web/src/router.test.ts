import { expect, test } from "vitest";
import { pathTo, placeOf } from "./router.ts";

test("a terminal's link leads to it", () => {
  const path = pathTo("base", "terminal", "se_1", "try-a");
  expect(path).toBe("/sandboxes/base/terminal/se_1?beside=try-a");
  const { pathname, search } = new URL(path, "http://x");
  expect(placeOf(pathname, search)).toEqual({ at: "sandbox", name: "base", tab: "terminal", session: "se_1", beside: "try-a" });
});

test("a sandbox alone is its terminal, and the root is the list", () => {
  expect(placeOf("/sandboxes/base")).toMatchObject({ at: "sandbox", tab: "terminal", session: undefined });
  expect(placeOf("/")).toEqual({ at: "sandboxes" });
  expect(placeOf("/family/")).toEqual({ at: "family" });
});

test.each(["/x", "/sandboxes/a/nothing", "/sandboxes/a/files/b/c", "/sandboxes/%E0%A4%A/nothing"])("%s is nowhere", (path) => {
  expect(placeOf(path)).toEqual({ at: "nowhere" });
});
