import { describe, expect, test } from "vitest";
import { readConfig } from "./config.ts";

describe("the store", () => {
  test("is SQLite unless a PostgreSQL database is named, by option or by the environment", () => {
    expect(readConfig([], {}).store).toBeUndefined();
    expect(readConfig([], { TORPOR_STORE: "" }).store).toBeUndefined();
    expect(readConfig(["--store", "sqlite"], { TORPOR_STORE: "postgres://db/x" }).store).toBeUndefined();
    expect(readConfig([], { TORPOR_STORE: "postgres://u:secret@db/x" }).store).toBe("postgres://u:secret@db/x");
    expect(readConfig(["--store", "postgresql://u@db/x"], {}).store).toBe("postgresql://u@db/x");
  });

  test.each(["postgres://u:secret@db/x", "postgres://db/x?password=secret"])("as an option may hold no password: %s", (url) => {
    expect(() => readConfig(["--store", url], {})).toThrow(
      expect.objectContaining({
        code: "invalid_request",
        message: expect.not.stringContaining("secret"),
        hint: expect.stringContaining("TORPOR_STORE"),
      }),
    );
  });

  test.each(["mysql://db/x", "torpor.db"])("is refused as %s", (url) => {
    expect(() => readConfig(["--store", url], {})).toThrow(/no URL of a PostgreSQL database/);
  });
});

test("history is kept for 7 days and 1000 of each unless told otherwise", () => {
  expect(readConfig([], {}).retention).toEqual({ maxAgeMs: 604_800_000, perSandbox: 1000 });
  expect(readConfig(["--history-days", "1", "--history-limit", "5"], {}).retention).toEqual({ maxAgeMs: 86_400_000, perSandbox: 5 });
  expect(() => readConfig(["--history-days", "-1"], {})).toThrow();
});
