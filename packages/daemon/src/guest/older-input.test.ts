import { expect, test } from "vitest";
import { olderInput } from "./older-input.ts";

test("input of several clients reaches an older guest once each, in turn", async () => {
  const given: Buffer[] = [];
  const write = olderInput(async (_session, offset, data) => {
    const now = Buffer.concat(given);
    // As that guest has it: what it has already is dropped.
    if (offset < now.length) return now.length;
    given.push(Buffer.from(data));
    return now.length + data.length;
  });
  const text = (client: string, offset: number, data: string) => write("se", { client, offset, data: Buffer.from(data), end: false });
  expect(await Promise.all([text("a", 0, "hello "), text("b", 0, "there "), text("a", 3, "lo world")])).toEqual([6, 6, 11]);
  expect(await text("b", 0, "there ")).toBe(6);
  expect(Buffer.concat(given).toString()).toBe("hello there world");
});
