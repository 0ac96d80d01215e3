import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Receivers } from "../ports/receivers.ts";

export interface ReceiversHarness extends AsyncDisposable {
  readonly receivers: Receivers;
  /** A receiver that answers with these statuses, one after the other; undefined: never. */
  readonly open: (...statuses: (number | undefined)[]) => Promise<string>;
  /** An address at which nothing listens, and one where messages may not go. */
  readonly nobody: string;
  readonly refused: string;
  /** Ids of messages that came to a receiver. */
  readonly came: () => string[];
}

export function receiversConformance(name: string, make: () => Promise<ReceiversHarness>): void {
  describe(`${name} keep the contract of receivers`, () => {
    let harness: ReceiversHarness;
    beforeEach(async () => {
      harness = await make();
    });
    afterEach(() => harness[Symbol.asyncDispose]());

    const post = (url: string, id = "wh_a_1", signal = new AbortController().signal) =>
      harness.receivers.post({ url, secret: harness.receivers.newSecret(), id, at: new Date(0), body: "{}" }, signal);

    test("a status of 2xx is a delivery, any other or none is not; each message is sent once", async () => {
      const url = await harness.open(200, 204, 302, 404, 500);
      const outcomes = [];
      for (let count = 1; count <= 5; count++) outcomes.push(await post(url, `wh_a_${count}`));
      expect(outcomes.map(({ status }) => status)).toEqual([200, 204, 302, 404, 500]);
      expect(outcomes.map(({ error }) => error === null)).toEqual([true, true, false, false, false]);
      expect(harness.came()).toEqual(["wh_a_1", "wh_a_2", "wh_a_3", "wh_a_4", "wh_a_5"]);
      expect(await post(harness.nobody)).toMatchObject({ status: null, error: expect.stringMatching(/./) });
    });

    test("what is aborted rejects with the reason", async () => {
      const url = await harness.open(undefined);
      const reason = new Error("enough");
      const leaving = new AbortController();
      const sent = post(url, "wh_a_1", leaving.signal);
      while (harness.came().length === 0) await new Promise((resolve) => setImmediate(resolve));
      leaving.abort(reason);
      await expect(sent).rejects.toBe(reason);
      await expect(post(url, "wh_a_2", AbortSignal.abort(reason))).rejects.toBe(reason);
      expect(harness.came()).toEqual(["wh_a_1"]);
    });

    test("an address that is closed is refused before anything is sent", async () => {
      expect(() => harness.receivers.check(harness.refused)).toThrow(expect.objectContaining({ code: "target_refused" }));
      harness.receivers.check(await harness.open());
    });

    test("each secret is another, of the form that clients check", () => {
      const secrets = [harness.receivers.newSecret(), harness.receivers.newSecret()];
      expect(secrets[0]).not.toBe(secrets[1]);
      for (const secret of secrets) expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{32,}={0,2}$/);
    });
  });
}
