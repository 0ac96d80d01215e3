import { expect, test } from "vitest";
import { requireHost } from "./require-host.ts";

test("a host without Linux is refused by name", () => {
  expect(() => requireHost("darwin", 0)).toThrow(
    expect.objectContaining({ code: "engine_unavailable", message: "torpord runs on Linux, and this is darwin" }),
  );
});

test("a user other than root is refused", () => {
  expect(() => requireHost("linux", 1000)).toThrow(
    expect.objectContaining({ code: "engine_unavailable", message: expect.stringMatching(/needs root/) }),
  );
});

test("root on Linux is let through", () => {
  expect(() => requireHost("linux", 0)).not.toThrow();
});
