import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Tokens } from "@torpor/core";

/** RFC 4648, lower case. */
const alphabet = "abcdefghijklmnopqrstuvwxyz234567";

/** 160 random bits; SHA-256 suffices to hide them, since they can't be guessed. */
export const randomTokens: Tokens = {
  next: () => Array.from(randomBytes(32), (byte) => alphabet[byte & 31]).join(""),
  hash: (token) => createHash("sha256").update(token).digest("hex"),
  verify(secret, body, signature) {
    const right = Buffer.from(`sha256=${createHmac("sha256", secret).update(Buffer.from(body, "base64")).digest("hex")}`);
    const given = Buffer.from(signature);
    return given.length === right.length && timingSafeEqual(given, right);
  },
};
