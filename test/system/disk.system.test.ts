import { expect, test } from "vitest";
import { put } from "./harness/content.ts";
import { cycle, cycleFiles } from "./harness/cycle.ts";
import { inside, output } from "./harness/inside.ts";
import { sandboxName, sharedClient, startSandbox } from "./harness/shared.ts";

const client = sharedClient();
const mib = 2 ** 20;

test("a full disk is an error inside and nothing else; freeing works, and so do pause and resume of a full one", async () => {
  const name = await startSandbox(client, { resources: { diskBytes: 128 * mib } });
  const session = await client.startSession(name, { argv: ["sleep", "9999"] });
  const filled = await inside(client, name, "head -c 500000000 /dev/zero > /root/fill");
  expect([filled.end.exitCode, filled.stderr]).toEqual([1, expect.stringContaining("No space left on device")]);
  await expect(put(client, name, "/root/more", Buffer.alloc(8 * mib))).rejects.toMatchObject({ code: "disk_full" });
  expect((await inside(client, name, "ls /root/more")).end.exitCode).not.toBe(0);
  await cycle(client, name);
  expect(await output(client, name, "pgrep -x sleep")).toBe(String(session.pid));
  expect((await inside(client, name, "head -c 1000000 /dev/zero > /root/y")).end.exitCode).not.toBe(0);
  const size = await output(client, name, "stat -c %s /root/fill");
  await cycleFiles(client, name);
  expect(await output(client, name, "stat -c %s /root/fill; rm /root/fill /root/y; echo fits > /root/z; cat /root/z")).toBe(
    `${size}\nfits`,
  );
  expect(await output(client, name, "df -B1 --output=size / | tail -1").then(Number)).toBeLessThan(128 * mib);
});

test("a disk that is full to its last block can be freed after a resume, and after a start", async () => {
  const name = await startSandbox(client, { resources: { diskBytes: 128 * mib } });
  // A hole beside each block: where they are takes blocks too, those that the file system keeps for that.
  const fill = `import errno, os
fd = os.open("/root/fill", os.O_CREAT | os.O_WRONLY)
try:
    for at in range(0, 1 << 30, 8192): os.pwrite(fd, bytes(4096), at)
except OSError as error:
    print(errno.errorcode[error.errno])
os.fsync(fd)`;
  for (const again of [cycle, cycleFiles]) {
    expect(await output(client, name, ["python3", "-c", fill])).toBe("ENOSPC");
    await again(client, name);
    expect(await output(client, name, "rm /root/fill; echo fits > /root/z; cat /root/z")).toBe("fits");
  }
});

test("a directory that was deleted and made again has only what is new, also in a fork and a second time (F10)", async () => {
  const name = await startSandbox(client);
  await output(client, name, "rm -rf /usr/share/doc && mkdir /usr/share/doc && touch /usr/share/doc/me");
  for (let i = 0; i < 2; i++) {
    await cycleFiles(client, name);
    expect(await output(client, name, "ls /usr/share/doc")).toBe("me");
    await cycle(client, name);
    expect(await output(client, name, "ls /usr/share/doc")).toBe("me");
  }
  for (const memory of [true, false]) {
    const child = `${name}-${memory}`;
    await client.fork(name, { name: child, memory });
    expect(await output(client, child, "ls /usr/share/doc")).toBe("me");
  }
});

test("a rewrite of the same size and time is not missed (F13)", async () => {
  const name = await startSandbox(client);
  await output(client, name, "echo AAAA > /root/f");
  await cycleFiles(client, name);
  await output(client, name, "T=$(stat -c %Y /root/f); echo BBBB > /root/f; touch -d @$T /root/f");
  await client.fork(name, { name: `${name}-child`, memory: false });
  await cycleFiles(client, name);
  expect(await output(client, name, "cat /root/f")).toBe("BBBB");
  expect(await output(client, `${name}-child`, "cat /root/f")).toBe("BBBB");
});

test("a sparse file of 100 GiB costs what is in it (F16)", async () => {
  const name = sandboxName(client);
  await client.create({ image: "debian", name, resources: { diskBytes: 120 * 1024 * mib } });
  const storedBytes = await poolUse();
  const sum = await output(
    client,
    name,
    "truncate -s 100G /s; dd if=/dev/urandom of=/s bs=1M count=1 seek=50000 conv=notrunc status=none; dd if=/s bs=1M count=1 skip=50000 status=none | sha256sum; sync",
  );
  const asked = performance.now();
  await cycleFiles(client, name);
  expect(performance.now() - asked).toBeLessThan(30_000);
  expect(await output(client, name, "dd if=/s bs=1M count=1 skip=50000 status=none | sha256sum; stat -c %s /s")).toBe(
    `${sum}\n107374182400`,
  );
  // The engine tells every file as without holes, so only the pool can say.
  expect((await poolUse()) - storedBytes).toBeLessThan(32 * mib);
});

test("hard links stay one file, also to one of the image, and a package installs (F19)", async () => {
  const name = await startSandbox(client);
  await output(client, name, "ln /etc/debian_version /root/h; echo x >> /root/h; cmp /etc/debian_version /root/h");
  const look = () =>
    output(client, name, "echo more >> /etc/debian_version; cmp /etc/debian_version /root/h; stat -c '%i %h' /etc/debian_version /root/h");
  const check = async () => {
    const [one, two] = (await look()).split("\n");
    expect(one).toBe(two);
    expect(one).toMatch(/ 2$/);
  };
  await check();
  await cycle(client, name);
  await check();
  await cycleFiles(client, name);
  await check();
  // What a package manager does to files of the image: a link as a backup, a rename over it, a removal.
  await output(
    client,
    name,
    "cd /usr/share/perl5 2>/dev/null || cd /usr/share; f=$(find . -type f | head -1); ln $f $f.dpkg-tmp; cp $f $f.dpkg-new; mv $f.dpkg-new $f; rm $f.dpkg-tmp; test -f $f",
  );
});

test("what was written is there after stop and start, without a sync of its own", async () => {
  const name = await startSandbox(client);
  await output(
    client,
    name,
    "head -c 20000000 /dev/urandom > /root/data; sha256sum /root/data > /root/sum; mkdir /root/dir; ln -s data /root/link",
  );
  await client.stop(name);
  expect(await client.get(name)).toMatchObject({ state: "stopped", checkpoint: null });
  await client.start(name);
  expect(await output(client, name, "sha256sum -c /root/sum; readlink /root/link; test -d /root/dir && echo dir")).toBe(
    "/root/data: OK\ndata\ndir",
  );
});

/** Bytes that the pool's file system says are taken. */
async function poolUse(): Promise<number> {
  const { pool } = await client.info();
  return pool.sizeBytes - pool.freeBytes;
}
