import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { get, mib, one, put, sha256 } from "./harness/content.ts";
import { cycle, cycleFiles } from "./harness/cycle.ts";
import { inside, output } from "./harness/inside.ts";
import { sharedClient, startSandbox } from "./harness/shared.ts";
import { entriesOf, tarOf } from "./harness/tar.ts";
import { runTorpor } from "./harness/torpor-process.ts";

const client = sharedClient();
let here: string;

beforeEach(() => {
  here = mkdtempSync(path.join(tmpdir(), "torpor-canary-"));
});

afterEach(() => rm(here, { recursive: true, force: true }));

describe("links and hostile archives stay in the sandbox (L09)", () => {
  test("links of all kinds lead to the sandbox's own files", async () => {
    const name = await startSandbox(client);
    writeFileSync(path.join(here, "canary"), "of the host");
    await output(
      client,
      name,
      `mkdir /w; cd /w; ln -s /etc/hostname l; ln -s / d; ln -s /proc/1/root r; ln -s ${here} host; ln -s /w/missing leaf`,
    );
    expect((await get(client, name, "/w/l")).toString().trim()).toBe(name);
    expect((await get(client, name, "/w/r/etc/hostname")).toString().trim()).toBe(name);
    await expect(get(client, name, "/w/host/canary")).rejects.toMatchObject({ code: "file_not_found" });
    await put(client, name, "/w/d/tmp/x", "in the box");
    expect(await output(client, name, "cat /tmp/x")).toBe("in the box");
    await put(client, name, "/w/d/../../../../../tmp/y", "in the box");
    expect(await output(client, name, "cat /tmp/y")).toBe("in the box");
    await put(client, name, "/w/host/canary", "changed", { parents: true }).catch(() => {});
    await put(client, name, "/w/leaf", "x").catch(() => {});
    expect(readFileSync(path.join(here, "canary"), "utf8")).toBe("of the host");
    expect(readdirSync(here)).toEqual(["canary"]);
  });

  test("a directory that is swapped for a link all the time leads nowhere else", async () => {
    const name = await startSandbox(client);
    writeFileSync(path.join(here, "canary"), "of the host");
    await output(client, name, "useradd worker; mkdir -m 777 /race; mkdir -m 700 /closed; echo untouched > /closed/f");
    const swapping = await client.startSession(name, { argv: ["python3", "-c", swap] });
    const archive = tarOf([
      { name: "d", type: "directory" },
      { name: "d/f", content: "written" },
    ]);
    let unpacked = 0;
    for (let i = 0; i < 60; i++) {
      await put(client, name, "/race/d/f", "written", { user: "worker" }).catch(() => {});
      await client.files.writeArchive(name, "/race", one(archive)).then(
        () => unpacked++,
        () => {},
      );
    }
    await client.removeSession(name, swapping.id, { force: true });
    // As root an archive would get there if a link in its own target were followed.
    expect(await output(client, name, "cat /closed/f; ls /closed")).toBe("untouched\nf");
    expect(unpacked).toBeGreaterThan(0);
    expect(readFileSync(path.join(here, "canary"), "utf8")).toBe("of the host");
  });

  test.each([
    ["a name with ..", [{ name: "../pwn", content: "x" }]],
    ["an absolute name", [{ name: "/pwn", content: "x" }]],
    [
      "a file through a link of the archive",
      [
        { name: "l", type: "symlink", target: "/" },
        { name: "l/pwn", content: "x" },
      ],
    ],
    [
      "a hard link to a file outside",
      [
        { name: "h", type: "link", target: "../../etc/shadow" },
        { name: "h", content: "x" },
      ],
    ],
  ] as const)("an archive with %s writes nothing outside its target", async (_, entries) => {
    const name = await startSandbox(client);
    await output(client, name, "mkdir -p /w/t");
    const shadow = await output(client, name, "sha256sum /etc/shadow");
    await client.files
      .writeArchive(name, "/w/t", one(tarOf(entries)))
      .catch((error: { code: string }) => expect(error.code).toBe("invalid_archive"));
    expect(await output(client, name, "ls /pwn /w/pwn 2>/dev/null || true; sha256sum /etc/shadow")).toBe(shadow);
  });
});

const swap = `
import os
while True:
    os.mkdir('/race/d')
    for f in os.listdir('/race/d'): os.unlink('/race/d/' + f)
    try: os.rmdir('/race/d')
    except OSError:
        import shutil; shutil.rmtree('/race/d', True)
        if os.path.isdir('/race/d'): continue
    os.symlink('/closed', '/race/d')
    os.unlink('/race/d')
`;

test("an archive of an odd tree has everything but its sockets, and a FIFO does not hold it up (F15)", async () => {
  const name = await startSandbox(client);
  await output(
    client,
    name,
    `mkdir -p /odd/sub; cd /odd; mkfifo fifo; ln -s /etc link; ln -s nowhere dangling; echo x > sub/a; ln sub/a sub/b; touch '../odd/..x'; python3 -c "import socket; socket.socket(socket.AF_UNIX).bind('/odd/socket')"`,
  );
  const tar = await bytesOf(await client.files.readArchive(name, "/odd"));
  expect(entriesOf(tar)).toEqual({
    odd: "directory",
    "odd/..x": "file",
    "odd/dangling": "symlink nowhere",
    "odd/fifo": "fifo",
    "odd/link": "symlink /etc",
    "odd/sub": "directory",
    "odd/sub/a": "file",
    "odd/sub/b": "link odd/sub/a",
  });
  await client.files.writeArchive(name, "/back", one(tar));
  expect(
    await output(
      client,
      name,
      "cd /back/odd; stat -c '%F' fifo; readlink link dangling; cat sub/b; stat -c %h sub/a; ls /etc/sub 2>/dev/null || echo none",
    ),
  ).toBe("fifo\n/etc\nnowhere\nx\n2\nnone");
  await cycle(client, name);
  expect(await output(client, name, "cd /odd; stat -c '%F' fifo socket; readlink link dangling; cat sub/b")).toBe(
    "fifo\nsocket\n/etc\nnowhere\nx",
  );
  await cycleFiles(client, name);
  // FIFOs and sockets on the disk are the engine's own memory: they go with the processes that used them.
  expect(await output(client, name, "cd /odd; ls -A; readlink link dangling; cat sub/b")).toBe(
    "..x\ndangling\nlink\nsub\n/etc\nnowhere\nx",
  );
});

test("an archive of a path that is not there is an error, not an empty stream", async () => {
  const name = await startSandbox(client);
  await expect(client.files.readArchive(name, "/nope")).rejects.toMatchObject({ code: "file_not_found" });
  await expect(client.files.writeArchive(name, "/root", one(Buffer.from("not a tar at all".repeat(100))))).rejects.toMatchObject({
    code: "invalid_archive",
  });
});

test("cp copies files and directories as cp does, and fails with a message and nothing half-written (L10)", async () => {
  const name = await startSandbox(client);
  await output(client, name, "mkdir -p /dir/sub; echo one > /f; echo two > /dir/sub/g");
  const cp = async (from: string, to: string) => (await runTorpor(["cp", from, to])).code;
  const local = (file: string) => path.join(here, file);
  expect(await cp(`${name}:/f`, local("f"))).toBe(0);
  expect(readFileSync(local("f"), "utf8")).toBe("one\n");
  expect(await cp(`${name}:/dir`, local("fresh"))).toBe(0);
  expect(readFileSync(local("fresh/sub/g"), "utf8")).toBe("two\n");
  expect(await cp(`${name}:/dir`, here)).toBe(0);
  expect(readFileSync(local("dir/sub/g"), "utf8")).toBe("two\n");
  expect(await cp(local("f"), `${name}:/dir/`)).toBe(0);
  expect(await cp(local("dir"), `${name}:/copied`)).toBe(0);
  expect(await output(client, name, "cat /dir/f /copied/sub/g")).toBe("one\ntwo");
  const before = readdirSync(here).sort();
  const missing = await runTorpor(["cp", `${name}:/nope`, local("nope")]);
  expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining("/nope")]);
  expect(await cp(local("nope"), `${name}:/x`)).toBe(1);
  expect(await cp(local("f"), `${name}:/nowhere/deep/`)).toBe(1);
  expect(readdirSync(here).sort()).toEqual(before);
  expect((await inside(client, name, "ls /x /nowhere")).end.exitCode).not.toBe(0);
});

test("cp carries 20 MB through pipes as a tar", async () => {
  const name = await startSandbox(client);
  const sum = await output(client, name, `head -c ${20 * mib} /dev/urandom > /root/big; sha256sum < /root/big`);
  const { stdout } = await runTorpor(["cp", `${name}:/root/big`, "-"]);
  expect(entriesOf(stdout)).toEqual({ big: "file" });
  expect((await runTorpor(["cp", "-", `${name}:/again`], stdout)).code).toBe(0);
  expect(await output(client, name, "sha256sum < /again/big")).toBe(sum);
  expect(sha256(await get(client, name, "/again/big"))).toBe(sum.split(" ")[0]);
});

async function bytesOf(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) {
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
