import { createHmac, randomBytes } from "node:crypto";

const prefix = "whsec_";
/** Standard Webhooks asks for 24 to 64. */
const secretBytes = 32;

export function newSecret(): string {
  return `${prefix}${randomBytes(secretBytes).toString("base64")}`;
}

/** The headers of a message by Standard Webhooks 1.0: id, time in seconds, and an HMAC-SHA256 of both and the body. */
export function signed(secret: string, { id, at, body }: { readonly id: string; readonly at: Date; readonly body: string }) {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const key = Buffer.from(secret.slice(prefix.length), "base64");
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": `v1,${signature}` };
}
