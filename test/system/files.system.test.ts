import { randomBytes } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { get, mib, one, put, RandomContent, sha256 } from "./harness/content.ts";
import { eventually, inside, output } from "./harness/inside.ts";
import { sharedClient, startSandbox } from "./harness/shared.ts";

const client = sharedClient();

test("files of all sizes go in and out as they are (L01)", async () => {
  const name = await startSandbox(client);
  for (const size of [0, 1, 4095, 4096, 18_000, 65_535, 65_536, 65_537, 131_072, mib, 100 * mib]) {
    const content = new RandomContent(size);
    const entry = await client.files.write(name, "/root/sized", content[Symbol.asyncIterator]());
    expect(entry).toMatchObject({ size, type: "file" });
    const sum = content.digest();
    expect(await output(client, name, "sha256sum < /root/sized"), `${size} in`).toBe(`${sum}  -`);
    expect(sha256(await get(client, name, "/root/sized")), `${size} out`).toBe(sum);
  }
});

test("an upload that breaks off leaves the old file, or none (L01)", async () => {
  const name = await startSandbox(client);
  await output(client, name, "mkdir /up");
  await put(client, name, "/up/old", "old");
  for (const target of ["/up/old", "/up/new"]) {
    await expect(client.files.write(name, target, breaking())).rejects.toThrow();
  }
  // The client hears of its own failure first; the guest drops what it had when it hears of it.
  const left = () => output(client, name, "cat /up/old; ls -A /up");
  await eventually(left, (text) => text === "oldold");
});

async function* breaking(): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < 8; i++) {
    yield randomBytes(mib);
    await setImmediate();
  }
  throw new Error("the client went away");
}

test("content never goes through a command line: quotes, NUL and $() over 128 KiB (L03)", async () => {
  const name = await startSandbox(client);
  const content = Buffer.from(`'"\`\0$(touch /pwned)\n`.repeat(12_000));
  await put(client, name, "/root/script", content);
  expect(await get(client, name, "/root/script")).toEqual(content);
  expect((await inside(client, name, "test -e /pwned")).end.exitCode).toBe(1);
});

test("binary content is bytes, never text (L04)", async () => {
  const name = await startSandbox(client);
  const table = Buffer.concat([
    Buffer.from("89504e470d0a1a0a", "hex"),
    Buffer.from(Array.from({ length: 256 }, (_, i) => i)),
    Buffer.from("\ufeff"),
  ]);
  await put(client, name, "/root/table", table);
  expect(await get(client, name, "/root/table")).toEqual(table);
});

test("what can't be listed is an error with its kind, and sizes are stat's (L06)", async () => {
  const name = await startSandbox(client);
  await output(client, name, "mkdir -m 700 /closed; echo x > /closed/x; mkdir /empty; mkdir /some; printf 12345 > /some/five");
  await expect(client.files.list(name, "/nope")).rejects.toMatchObject({ code: "file_not_found", status: 404 });
  await expect(client.files.list(name, "/etc/passwd")).rejects.toMatchObject({ code: "invalid_path", status: 400 });
  await expect(client.files.list(name, "/closed", { user: "nobody" })).rejects.toMatchObject({ code: "permission_denied", status: 403 });
  expect(await client.files.list(name, "/empty")).toEqual([]);
  expect((await client.files.list(name, "/some")).map(({ name: file, size, type }) => [file, size, type])).toEqual([["five", 5, "file"]]);
});

test("a path is decoded once, whatever it is made of (L07)", async () => {
  const name = await startSandbox(client);
  await output(client, name, "mkdir /odd");
  const names = ["a%20b", "a b", "a+b", "x#y?z", "%2e%2e", "é\u0301", "tab\tnew\nline", "-rf", "*"];
  for (const [i, odd] of names.entries()) {
    await put(client, name, `/odd/${odd}`, `content ${i}`);
  }
  expect((await client.files.list(name, "/odd")).map((entry) => entry.name).sort()).toEqual([...names].sort());
  for (const [i, odd] of names.entries()) {
    expect((await get(client, name, `/odd/${odd}`)).toString()).toBe(`content ${i}`);
    expect((await inside(client, name, ["cat", `/odd/${odd}`])).stdout).toBe(`content ${i}`);
  }
});

describe("files as another user", () => {
  test("are made as that user and refused as the kernel would", async () => {
    const name = await startSandbox(client);
    await output(client, name, "useradd -m -u 1234 worker; mkdir -m 700 /closed; echo secret > /closed/secret");
    await put(client, name, "/home/worker/mine", "x", { user: "worker", mode: 0o640 });
    expect(await client.files.stat(name, "/home/worker/mine")).toMatchObject({ owner: "worker", uid: 1234, mode: 0o640 });
    for (const call of [
      () => get(client, name, "/closed/secret", { user: "worker" }),
      () => put(client, name, "/etc/passwd", "x", { user: "worker" }),
      () => put(client, name, "/closed/new", "x", { user: "worker" }),
      () => client.files.remove(name, "/etc/hosts", { user: "worker" }),
      () => client.files.move(name, { from: "/home/worker/mine", to: "/etc/mine", user: "worker" }),
      () => client.files.makeDirectory(name, { path: "/etc/dir", user: "worker" }),
      () =>
        client.files
          .writeArchive(name, "/etc", one(Buffer.alloc(1024)), { user: "worker" })
          .then(() => Promise.reject({ code: "permission_denied" })),
    ]) {
      await expect(call()).rejects.toMatchObject({ code: "permission_denied" });
    }
    expect(await output(client, name, "cat /closed/secret; head -1 /etc/passwd")).toMatch(/^secret\nroot:x:0:0/);
  });
});

test("directories, moves and removals", async () => {
  const name = await startSandbox(client);
  await expect(client.files.makeDirectory(name, { path: "/a/b/c" })).rejects.toMatchObject({ code: "file_not_found" });
  await client.files.makeDirectory(name, { path: "/a/b/c", parents: true, mode: 0o750 });
  expect(await client.files.stat(name, "/a/b/c")).toMatchObject({ type: "directory", mode: 0o750 });
  await put(client, name, "/a/b/c/f", "x");
  await expect(client.files.remove(name, "/a")).rejects.toMatchObject({ code: "directory_not_empty" });
  await client.files.move(name, { from: "/a/b", to: "/moved" });
  expect(await output(client, name, "cat /moved/c/f; ls -A /a | wc -l")).toBe("x0");
  await client.files.remove(name, "/moved", { recursive: true });
  await expect(client.files.stat(name, "/moved")).rejects.toMatchObject({ code: "file_not_found" });
});

test("a watch tells what happens below a directory while it happens, and ends with a pause by its reason", async () => {
  const name = await startSandbox(client);
  await output(client, name, "mkdir -p /src/deep");
  const changes = await client.files.watch(name, "/src", { recursive: true });
  const seen: string[] = [];
  const seeUntil = async (last: string) => {
    for (let next = await changes.next(); !next.done; next = await changes.next()) {
      const { change, path, from } = next.value;
      seen.push(`${change} ${path}${from === null ? "" : ` from ${from}`}`);
      if (path === last) break;
    }
  };
  await output(client, name, "cd /src; echo 1 >deep/a; mkdir new");
  await seeUntil("/src/new"); // who is told of a directory is told of what happens in it from then on
  await output(client, name, "cd /src; mv deep/a new/b; rm new/b; touch end");
  await seeUntil("/src/end");
  expect(seen).toEqual(
    expect.arrayContaining([
      "created /src/deep/a",
      "written /src/deep/a",
      "created /src/new",
      "renamed /src/new/b from /src/deep/a",
      "removed /src/new/b",
    ]),
  );
  const ending = expect(
    (async () => {
      for await (const _ of changes);
    })(),
  ).rejects.toMatchObject({ code: "session_paused" });
  await client.pause(name);
  await ending;
  // The guest that was restored watches as well as before.
  await client.resume(name);
  const again = await client.files.watch(name, "/src/new");
  await output(client, name, "touch /src/new/c");
  expect((await again.next()).value).toMatchObject({ change: "created", path: "/src/new/c", directory: false });
  await again.return(undefined);
});

test("a file that grows while it is read ends as long as it was, and the connection goes on", async () => {
  const name = await startSandbox(client);
  await output(client, name, "head -c 8M /dev/zero > /root/log");
  await client.startSession(name, { argv: ["sh", "-c", "while true; do head -c 64K /dev/zero; done >> /root/log"] });
  for (let round = 0; round < 3; round++) {
    const { entry, content } = await client.files.read(name, "/root/log");
    const bytes = await buffer(content);
    expect(bytes.length).toBe(entry.size);
  }
  expect(await output(client, name, "echo ok")).toBe("ok");
});

test("files of /proc, whose size is 0, are read to their end", async () => {
  const name = await startSandbox(client);
  expect((await get(client, name, "/proc/meminfo")).toString()).toContain("MemTotal:");
});
