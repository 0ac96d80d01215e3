import { createReadStream } from "node:fs";
import { TorporClient } from "@torpor/sdk";
import { Counter } from "./counter.ts";
import { bytes, next, paint, step } from "./say.ts";

const name = "quickstart";
const image = "debian";
const asideMs = 3_000;

const client = new TorporClient();
try {
  await demo();
} finally {
  client.close();
}

/** The main job, each step with its time. Run again, it begins anew. */
async function demo(): Promise<void> {
  await removeEarlier();
  await ensureImage();
  await step("create a sandbox from it", async () => {
    await client.create({ image, name });
    return "an isolated machine, by gVisor";
  });
  await client.files.write(name, "/root/count.py", createReadStream(new URL("../../examples/count.py", import.meta.url)));
  const counter = await Counter.start(client, name, ["python3", "/root/count.py"]);
  await step("start count.py in it, and let it count to 5", async () => {
    const { count, pid } = await counter.reach(5);
    return `count ${count}, pid ${pid}`;
  });

  const before = await step("pause: memory to disk, compute released", async () => {
    const { operation } = await client.pause(name);
    const { releasedBytes, checkpointBytes } = (operation?.result ?? {}) as { releasedBytes: number; checkpointBytes: number };
    return `${bytes(releasedBytes)} of memory released, the checkpoint has ${bytes(checkpointBytes)}`;
  }).then(() => counter.last);
  await step(`wait ${asideMs / 1000} s with nothing running`, async () => {
    await new Promise((resolve) => setTimeout(resolve, asideMs));
    const { state } = await client.get(name);
    return `state ${state}: no process, no memory, only disk`;
  });
  await step("resume: the count goes on, in the same process", async () => {
    await client.resume(name);
    const after = await counter.reach(before.count + 3);
    if (after.pid !== before.pid) throw new Error(`the counter has pid ${after.pid} and had ${before.pid}`);
    return `count ${before.count} before, ${after.count} now, pid ${after.pid} as before`;
  });

  await step("fork it twice, while it runs", async () => {
    const { operation } = await client.fork(name, { name: `${name}-fork`, count: 2 });
    const { children, frozenMs } = (operation?.result ?? {}) as { children: { name: string }[]; frozenMs: number };
    const counts = await Promise.all(
      children.map(async (child) => ({ child: child.name, ...(await counter.of(child.name).reach(counter.last.count + 3)) })),
    );
    return `frozen for ${Math.round(frozenMs)} ms; ${counts.map(({ child, count, pid }) => `${child} counts at ${count} (pid ${pid})`).join(", ")}`;
  });
  next(name, await linkToPage());
}

/** Signs one browser in, once. undefined: this daemon serves no page. */
async function linkToPage(): Promise<string | undefined> {
  const { addresses, publicUrl } = (await client.info()).listening;
  const base = publicUrl ?? addresses[0];
  if (base === undefined) return undefined;
  const { code } = await client.access.loginCode();
  return `${base}/sandboxes/${name}#code=${code}`;
}

async function removeEarlier(): Promise<void> {
  for (const sandbox of await client.list()) {
    if (sandbox.name === name || sandbox.name.startsWith(`${name}-fork`)) await client.remove(sandbox.id, { force: true });
  }
}

async function ensureImage(): Promise<void> {
  const known = (await client.images.list()).some(({ references }) => references.includes(`${image}:latest`) || references.includes(image));
  await step(
    known ? `the image ${image} is here already` : `build the image ${image}: Debian with Python, pip and git, no registry needed`,
    async () => {
      if (known) return "";
      const built = await client.images.build({ reference: image }, ({ text }) => paint(text));
      return `${bytes(built.storedBytes)} on disk`;
    },
  );
}
