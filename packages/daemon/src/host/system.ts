import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Clock, Ids } from "@torpor/core";

export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  sleep: async (ms, signal) => {
    await sleep(ms, undefined, signal === undefined ? {} : { signal });
  },
};

/** 16 characters of 5 random bits each: 80 bits, so that ids are neither guessed nor met twice. */
export const randomIds: Ids = {
  next: (prefix) => `${prefix}_${Array.from(randomBytes(16), (byte) => alphabet[byte & 31]).join("")}`,
};

/** RFC 4648, lower case: no characters that look alike. */
const alphabet = "abcdefghijklmnopqrstuvwxyz234567";
