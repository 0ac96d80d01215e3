import { request } from "node:http";
import { expect, inject, test } from "vitest";
import { eventually, output } from "./harness/inside.ts";
import { sharedClient, startSandbox } from "./harness/shared.ts";

const client = sharedClient();

/** Writes down what it is told, and acknowledges it. */
const hook = `#!/bin/sh
echo "$TORPOR_GENERATION $(cat $TORPOR_WAKE/method 2>/dev/null || echo timer) $(cat $TORPOR_WAKE/body 2>/dev/null)" >> /root/woken
rm -r $TORPOR_WAKE
`;

async function withHook(): Promise<string> {
  const name = await startSandbox(client);
  await output(
    client,
    name,
    `mkdir -p /etc/torpor/hooks/woken.d && cat > /etc/torpor/hooks/woken.d/10-note <<'END'\n${hook}END\nchmod +x /etc/torpor/hooks/woken.d/10-note`,
  );
  return name;
}

/** As somebody elsewhere calls it: over HTTP, with nothing but the address. */
function call(path: string, body: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath: inject("torporSocket"), path, method: "POST" }, (answer) => {
      answer.resume();
      answer.once("end", () => resolve(answer.statusCode ?? 0));
    });
    sent.once("error", reject);
    sent.end(body);
  });
}

test("a call to its address resumes a paused sandbox, with its memory, and runs its hook once a call", async () => {
  const name = await withHook();
  await client.startSession(name, { argv: ["sleep", "1000"] });
  const { path } = await client.wakes.create(name, { url: true });
  await client.pause(name);
  expect(await Promise.all(["one", "two"].map((body) => call(path ?? "", body)))).toEqual([202, 202]);
  await eventually(
    () => client.wakes.list(name),
    ({ pending }) => pending === 0,
  );
  const woken = (await output(client, name, "cat /root/woken")).split("\n");
  expect(woken.sort()).toEqual(["2 POST one", "2 POST two"]);
  expect(await output(client, name, "ls -A /var/lib/torpor/wakes; pgrep -x sleep | wc -l")).toBe("1");
  expect((await client.operations(name)).filter(({ kind }) => kind === "resume")).toMatchObject([
    { actor: "wake", result: { restored: "memory" } },
  ]);
  await client.remove(name, { force: true });
  expect(await call(path ?? "", "late")).toBe(404);
});

test("a sandbox wakes by itself at a time", async () => {
  const name = await withHook();
  await client.pause(name);
  const { nextAt } = await client.wakes.create(name, { afterMs: 1000 });
  await eventually(
    () => client.get(name),
    ({ state }) => state === "running",
  );
  expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(nextAt ?? ""));
  await eventually(
    () => client.wakes.list(name),
    ({ pending }) => pending === 0,
  );
  expect(await output(client, name, "cat /root/woken")).toBe("2 timer");
});
