import type { CredentialRecord } from "../ports/credential-store.ts";
import type { Ports } from "../ports/ports.ts";

/** So that people and scanners of sources know one when they see it. */
const prefixes: Record<CredentialRecord["kind"], string> = { token: "torpor_", session: "", code: "" };
const body = /^[a-z2-7]{32}$/;

type Facts = Omit<CredentialRecord, "version" | "hash" | "createdAt">;

/** The record of a credential, not yet committed, and the secret that is nowhere but in this answer. */
export function newCredential(
  { tokens, clock }: Pick<Ports, "tokens" | "clock">,
  facts: Facts,
): { record: CredentialRecord; secret: string } {
  const secret = prefixes[facts.kind] + tokens.next();
  return { record: { ...facts, version: 0, hash: tokens.hash(secret), createdAt: clock.now().toISOString() }, secret };
}

/** The hash of what may be a secret of that kind; of anything else nothing is computed. */
export function readSecret({ tokens }: Pick<Ports, "tokens">, kind: CredentialRecord["kind"], secret: string): string | undefined {
  const prefix = prefixes[kind];
  return secret.startsWith(prefix) && body.test(secret.slice(prefix.length)) ? tokens.hash(secret) : undefined;
}
