import { once } from "node:events";
import { createServer } from "node:net";
import type { SignedPost } from "@torpor/core";
import { receiversConformance } from "@torpor/core/testing";
import { afterEach, describe, expect, test } from "vitest";
import { type Answer, isSigned, type Received, WebhookReceiver } from "../testing/webhook-receiver.ts";
import { createHttpReceivers } from "./http-receivers.ts";
import { newSecret, signed } from "./signature.ts";
import { createTargets } from "./targets.ts";

const receivers = createHttpReceivers(createTargets("127.0.0.1"));
const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one[Symbol.asyncDispose]();
});

async function receiver(answer?: Answer): Promise<WebhookReceiver> {
  const made = await WebhookReceiver.open(answer === undefined ? {} : { answer });
  open.push(made);
  return made;
}

function message(url: string, changed: Partial<SignedPost> = {}): SignedPost {
  return { url, secret: newSecret(), id: "wh_a_1", at: new Date(), body: '{"type":"sandbox.paused"}', ...changed };
}

const never = new AbortController().signal;

receiversConformance("receivers over HTTP", async () => {
  const ids = (received: readonly Received[]) => received.map(({ headers }) => String(headers["webhook-id"]));
  const all: WebhookReceiver[] = [];
  return {
    receivers,
    async open(...statuses) {
      const made = await receiver((response) => {
        const status = statuses.shift();
        if (status !== undefined) response.writeHead(status, { location: "http://127.0.0.1:1/elsewhere" }).end("thanks");
      });
      all.push(made);
      return made.url;
    },
    nobody: "http://127.0.0.1:1/",
    refused: "http://192.168.7.7/",
    came: () => all.flatMap(({ received }) => ids(received)),
    async [Symbol.asyncDispose]() {},
  };
});

describe("a message", () => {
  test("is signed as Standard Webhooks says: its own example", () => {
    const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const example = { id: "msg_p5jXN8AQM9LWM0D4loKWxJek", at: new Date(1_614_265_330_000), body: '{"test": 2432232314}' };
    expect(signed(secret, example)).toEqual({
      "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
      "webhook-timestamp": "1614265330",
      "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    });
  });

  test("comes whole, as JSON, with a signature that its receiver can check", async () => {
    const made = await receiver();
    const sent = message(made.url, { body: JSON.stringify({ text: "ü\u0000\n".repeat(10_000) }) });
    expect(await receivers.post(sent, never)).toEqual({ status: 204, error: null });
    const [received] = await made.came(1);
    expect(received?.body).toBe(sent.body);
    expect(received?.headers).toMatchObject({ "content-type": "application/json", "user-agent": expect.stringMatching(/^torpord\//) });
    expect(isSigned(received!, sent.secret)).toBe(true);
    expect(isSigned({ ...received!, body: `${sent.body} ` }, sent.secret)).toBe(false);
    expect(isSigned(received!, newSecret())).toBe(false);
  });

  test("is not sent on where an answer points to", async () => {
    const elsewhere = await receiver();
    const made = await receiver((response) => response.writeHead(307, { location: elsewhere.url }).end());
    expect(await receivers.post(message(made.url), never)).toEqual({ status: 307, error: "HTTP status 307: redirects are not followed" });
    expect(elsewhere.received).toEqual([]);
  });

  test("whose receiver asks for time says how much", async () => {
    const made = await receiver((response) => response.writeHead(429, { "retry-after": "120" }).end());
    expect(await receivers.post(message(made.url), never)).toMatchObject({ status: 429, retryAfterMs: 120_000 });
    const dated = await receiver((response) =>
      response.writeHead(503, { "retry-after": new Date(Date.now() + 60_000).toUTCString() }).end(),
    );
    const { retryAfterMs } = await receivers.post(message(dated.url), never);
    expect(retryAfterMs).toBeGreaterThan(50_000);
    const odd = await receiver((response) => response.writeHead(503, { "retry-after": "soon" }).end());
    expect(await receivers.post(message(odd.url), never)).toEqual({ status: 503, error: "HTTP status 503" });
  });

  test("counts by its status, whatever the rest of the answer does", async () => {
    const endless = await receiver((response) => {
      response.writeHead(200);
      const more = () => {
        while (response.write("x".repeat(16_384)));
        response.once("drain", more);
      };
      more();
    });
    expect(await receivers.post(message(endless.url), never)).toEqual({ status: 200, error: null });
    const broken = await receiver((response) => {
      response.writeHead(200, { "content-length": "100" }).write("x");
      setImmediate(() => response.destroy());
    });
    expect(await receivers.post(message(broken.url), never)).toEqual({ status: 200, error: null });
  });

  test("to a receiver that does not answer in time, or not with HTTP, has failed; nothing of the answer is told", async () => {
    const hurried = createHttpReceivers(createTargets("127.0.0.1"), { timeoutMs: 50 });
    const silent = await receiver(() => {});
    expect(await hurried.post(message(silent.url), never)).toEqual({ status: null, error: "no answer within 0.05 s" });
    const hostile = createServer((socket) => socket.on("error", () => {}).end("secret\u001b[31m\r\n\r\n"));
    hostile.listen(0, "127.0.0.1");
    await once(hostile, "listening");
    const { port } = hostile.address() as { port: number };
    const outcome = await receivers.post(message(`http://127.0.0.1:${port}/`), never);
    hostile.close();
    expect(outcome).toMatchObject({ status: null, error: expect.stringMatching(/./) });
    expect(outcome.error).not.toMatch(/secret|\p{Cc}/u);
  });
});

describe("where messages may go", () => {
  const targets = createTargets();

  test.each([
    "127.0.0.1",
    "127.8.8.8",
    "0.0.0.0",
    "10.1.2.3",
    "172.31.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "::1",
    "::",
    "::ffff:127.0.0.1",
    "::ffff:a00:1",
    "64:ff9b::a00:1",
    "2002:7f00:1::",
    "fd00::1",
    "fe80::1",
    "fec0::1",
    "ff02::1",
  ])("not to %s", (address) => {
    expect(targets.allows(address)).toBe(false);
  });

  test.each(["93.184.216.34", "198.51.100.7", "2606:2800:220:1::1", "::ffff:93.184.216.34"])("to %s", (address) => {
    expect(targets.allows(address)).toBe(true);
  });

  test("what was opened, and nothing else", () => {
    const opened = createTargets("10.0.0.0/8, fd00::/8,127.0.0.1");
    expect(["10.9.9.9", "::ffff:10.9.9.9", "fd12::1", "127.0.0.1"].map((address) => opened.allows(address))).toEqual([
      true,
      true,
      true,
      true,
    ]);
    expect(["127.0.0.2", "192.168.0.1", "169.254.169.254", "::1"].map((address) => opened.allows(address))).toEqual([
      false,
      false,
      false,
      false,
    ]);
    for (const text of ["10.0.0.0/33", "example.org", "10.0.0.0/8/8", "10.0.0.0/x", "10.0.0.0/"])
      expect(() => createTargets(text)).toThrow(/is no network/);
  });

  test("is looked at when a webhook is made, in whatever way the address is written", () => {
    const closed = createHttpReceivers(targets);
    const refused = expect.objectContaining({ code: "target_refused" });
    for (const host of ["127.0.0.1", "2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]", "localhost", "LOCALHOST", "169.254.169.254"])
      expect(() => closed.check(`http://${host}/`), host).toThrow(refused);
    closed.check("https://receiver.example/");
    closed.check("http://93.184.216.34/");
  });

  test("is looked at again at each attempt, and by the address that a name has then", async () => {
    const made = await receiver();
    const closed = createHttpReceivers(targets);
    expect(await closed.post(message(made.url), never)).toMatchObject({ status: null, error: expect.stringContaining("private network") });
    const byName = await closed.post(message(made.url.replace("127.0.0.1", "localhost")), never);
    expect(byName).toMatchObject({ status: null, error: expect.stringContaining("private network") });
    expect(made.received).toEqual([]);
    expect(await receivers.post(message(made.url.replace("127.0.0.1", "localhost")), never)).toEqual({ status: 204, error: null });
  });
});
