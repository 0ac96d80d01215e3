import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { chooseSubnet, formatSubnet, parseSubnet } from "../../packages/daemon/src/network/subnet.ts";
import { importBare } from "./harness/bare-image.ts";
import { TestDaemon } from "./harness/test-daemon.ts";

test("a small subnet serves any number of sandboxes one after the other, and says when it is full (D15)", async () => {
  // 32 addresses are eight sandboxes.
  await using daemon = await TestDaemon.start({ image: false, args: ["--subnet", `10.199.${process.pid % 256}.0/27`] });
  await importBare(daemon.client);
  const create = async () => {
    const { operation, sandbox } = await daemon.client.create({ image: "bare", resources: { memoryBytes: 64 * 2 ** 20 } });
    expect(operation.status).toBe("succeeded");
    return { id: sandbox?.id ?? "", address: sandbox?.address ?? "" };
  };
  const used = new Set<string>();
  for (let i = 0; i < 13; i++) {
    const { id, address } = await create();
    used.add(address);
    await daemon.client.remove(id, { force: true });
  }
  // An address that was just freed rests while others are free.
  expect(used.size).toBe(8);

  const all = await Promise.all(Array.from({ length: 8 }, create));
  expect(new Set(all.map(({ address }) => address))).toEqual(used);
  const before = await daemon.client.list();
  await expect(daemon.client.create({ image: "bare" })).rejects.toMatchObject({
    code: "capacity_exceeded",
    message: expect.stringMatching(/^All 8 addresses of 10\.199\.\d+\.0\/27 are taken/),
  });
  expect(await daemon.client.list()).toEqual(before);
  const [freed] = all;
  await daemon.client.remove(freed?.id ?? "", { force: true });
  expect((await create()).address).toBe(freed?.address);
});

test("the network of a daemon without sandboxes is not chosen by another", async () => {
  await using daemon = await TestDaemon.start({ image: false });
  const { subnet } = JSON.parse(readFileSync(path.join(daemon.data, "instance.json"), "utf8")) as { subnet: string };
  const seed = (parseSubnet(subnet).base - parseSubnet("10.64.0.0/10").base) / 2 ** 14;
  expect(formatSubnet(await chooseSubnet(seed))).not.toBe(subnet);
});
