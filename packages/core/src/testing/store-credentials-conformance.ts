import { expect, test } from "vitest";
import type { Store } from "../ports/store.ts";
import { credentialRecord } from "./records.ts";

/** The part of the store's contract that is about credentials. */
export function credentialsConformance(storeOf: () => Store): void {
  test("credentials are found by their hash alone, and listed oldest first", async () => {
    const store = storeOf();
    const token = credentialRecord({
      id: "tk_b",
      name: "b",
      hash: "hb",
      scopes: ["sandbox:read", "exec"],
      expiresAt: "2030-01-01T00:00:00.000Z",
    });
    await store.commit({ credentials: [token] });
    await store.commit({
      credentials: [credentialRecord(), credentialRecord({ id: "lg_a", kind: "session", tokenId: "tk_b", hash: "hs" })],
    });
    await store.commit({ credentials: [credentialRecord({ id: "lg_o", kind: "session", tokenId: null, team: null, hash: "ho" })] });
    expect(await store.findCredential("hb")).toEqual({ ...token, version: 1 });
    expect(await store.findCredential("tk_b")).toBeUndefined();
    expect((await store.listTokens()).map(({ id }) => id)).toEqual(["tk_b", "tk_a"]);
    expect((await store.listSessions("tk_b")).map(({ id }) => id)).toEqual(["lg_a"]);
    expect((await store.listSessions(null)).map(({ id }) => id)).toEqual(["lg_o"]);
  });

  test("a credential ends once, and a token with all that comes from it", async () => {
    const store = storeOf();
    const code = credentialRecord({ id: "lc_a", kind: "code", tokenId: "tk_a", hash: "hc" });
    await store.commit({ credentials: [credentialRecord()] });
    await store.commit({ credentials: [code] });
    const session = credentialRecord({ id: "lg_a", kind: "session", tokenId: "tk_a", hash: "hs" });
    const used = { endedCredentials: [{ ...code, version: 1 }] };
    await store.commit({ ...used, credentials: [session] });
    const twice = { ...used, credentials: [{ ...session, id: "lg_b", hash: "hs2" }] };
    await expect(store.commit(twice)).rejects.toMatchObject({ name: "StoreConflict", kind: "stale" });
    expect(await store.findCredential("hs2")).toBeUndefined();
    await store.commit({ endedCredentials: [credentialRecord({ version: 1 })] });
    expect(await store.findCredential("hs")).toBeUndefined();
    await expect(store.commit({ credentials: [{ ...session, id: "lg_c" }] })).rejects.toMatchObject({ kind: "stale" });
  });

  test("no two tokens have the same name", async () => {
    const store = storeOf();
    await store.commit({ credentials: [credentialRecord()] });
    await expect(store.commit({ credentials: [credentialRecord({ id: "tk_b", hash: "hb" })] })).rejects.toMatchObject({ kind: "stale" });
    await store.commit({ credentials: [credentialRecord({ id: "lg_b", kind: "session", tokenId: "tk_a", hash: "hb" })] });
  });

  test("sessions and codes that have expired are forgotten, tokens are not", async () => {
    const store = storeOf();
    const expiresAt = "2026-01-02T00:00:00.000Z";
    const of = (id: string, kind: "token" | "session" | "code") =>
      credentialRecord({ id, kind, name: id, hash: `h ${id}`, tokenId: null, expiresAt });
    await store.commit({ credentials: [of("tk_o", "token"), of("lg_o", "session"), of("lc_o", "code")] });
    await store.commit({ credentials: [{ ...of("lg_n", "session"), expiresAt: "2026-01-02T00:00:00.001Z" }] });
    const retention = { now: expiresAt, before: "", undeliveredBefore: "", perSandbox: 10, batch: 10 };
    expect(await store.prune(retention)).toBe(2);
    const left = await Promise.all(["tk_o", "lg_o", "lc_o", "lg_n"].map((id) => store.findCredential(`h ${id}`)));
    expect(left.map((one) => one?.id)).toEqual(["tk_o", undefined, undefined, "lg_n"]);
  });
}
