import { expect, test } from "vitest";
import { TestDaemon } from "./harness/test-daemon.ts";

test("a browser stays signed in over a kill of the daemon, until its token is revoked; no secret is in the log", async () => {
  await using daemon = await TestDaemon.start({ image: false, args: ["--listen", "127.0.0.1:0", "--log-level", "trace"] });
  const { secret, token } = await daemon.client.access.createToken({ name: "laptop" });
  const { code } = await daemon.client.access.loginCode();
  const url = async () => (await daemon.client.info()).listening.addresses[0] ?? "";
  const ask = async (path: string, headers: Record<string, string>, json?: unknown) => {
    const body = json === undefined ? {} : { method: "POST", body: JSON.stringify(json) };
    return fetch((await url()) + path, {
      ...body,
      headers: { ...headers, ...(json === undefined ? {} : { "content-type": "application/json" }) },
    });
  };
  const signIn = async (json: unknown) => ((await ask("/v1/login", {}, json)).headers.get("set-cookie") ?? "").split(";")[0] as string;
  const [byToken, byCode] = [await signIn({ token: secret }), await signIn({ code })];

  await daemon.kill();
  await daemon.launch();
  expect(await (await ask("/v1/whoami", { cookie: byToken })).json()).toMatchObject({
    via: "cookie",
    token: { id: token.id, name: "laptop" },
  });
  expect(await (await ask("/v1/whoami", { cookie: byCode })).json()).toMatchObject({ via: "cookie", token: null });
  expect((await ask("/v1/login", {}, { code })).status).toBe(401);

  await daemon.client.access.revokeToken("laptop");
  expect((await ask("/v1/whoami", { cookie: byToken })).status).toBe(401);
  expect((await ask("/v1/whoami", { authorization: `Bearer ${secret}` })).status).toBe(401);
  expect((await ask("/v1/whoami", { cookie: byCode })).status).toBe(200);
  const log = daemon.log();
  expect(log).toContain("torpord listens");
  for (const hidden of [secret, code, byToken.split("=")[1], byCode.split("=")[1]]) expect(log).not.toContain(hidden);
});
