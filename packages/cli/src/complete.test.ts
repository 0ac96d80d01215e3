import { afterAll, beforeAll, expect, test } from "vitest";
import { type Server, startServer } from "./testing/server.ts";
import { torpor } from "./testing/torpor.ts";

let server: Server;
beforeAll(async () => {
  server = await startServer();
  await torpor(server, ["create", "--name", "try-a", "debian"]);
  await torpor(server, ["create", "--name", "try-b", "debian"]);
  await torpor(server, ["snapshot", "create", "--name", "warm", "try-a"]);
});
afterAll(() => server[Symbol.asyncDispose]());

const words = async (...typed: string[]) =>
  (await torpor(server, ["complete", "--", ...typed])).text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => line.split("\t")[0]);

test.each<[string, string[], string[]]>([
  ["commands", ["pa"], ["pause"]],
  ["commands within", ["snapshot", "re"], ["restore", "remove"]],
  ["options", ["create", "--self"], ["--self-control"]],
  ["an option's choices", ["create", "--network", ""], ["default", "none"]],
  ["an option's value that is a snapshot", ["create", "--snapshot", ""], ["warm"]],
  ["names of sandboxes", ["pause", ""], ["try-a", "try-b"]],
  ["after options and their values", ["resume", "--memory", "require", "try-"], ["try-a", "try-b"]],
  ["further ones", ["remove", "--force", "try-a", "try-b"], ["try-b"]],
  ["images", ["create", "py"], ["python:3.12"]],
  ["nothing where nothing is known", ["exec", "try-a", ""], []],
])("completes %s", async (_what, typed, expected) => {
  expect((await words(...typed)).sort()).toEqual([...expected].sort());
});

test("without a daemon commands are completed all the same, and nothing is said", async () => {
  expect(await torpor({ socket: "/nowhere/s" }, ["complete", "--", "pause", ""])).toMatchObject({ code: 0, text: "", stderr: "" });
});

test("each shell has a script, and an unknown one is clearly refused", async () => {
  for (const shell of ["bash", "zsh", "fish"]) expect((await torpor(server, ["completion", shell])).text).toContain("torpor complete --");
  expect(await torpor(server, ["completion", "tcsh"])).toMatchObject({ code: 1, stderr: expect.stringContaining("bash, zsh, fish") });
});
