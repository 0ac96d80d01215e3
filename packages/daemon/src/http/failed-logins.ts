import { isIPv6 } from "node:net";
import { TorporError } from "@torpor/contract";
import { setLatest } from "../set-latest.ts";

const limit = 10;
const windowMs = 60_000;
/** Addresses that are remembered; the one that failed longest ago is forgotten for a new one. */
const rememberedLimit = 4096;

interface Failures {
  readonly count: number;
  readonly since: number;
}

/** Keeps whoever guesses from going on. Secrets have 160 bits: it is for the log's and the store's sake more than for theirs. */
export class FailedLogins {
  readonly #failures = new Map<string, Failures>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Refuses an address that has failed too often. */
  check(address: string): void {
    const failures = this.#of(address);
    if (failures === undefined || failures.count < limit) return;
    const retryAfterMs = Math.ceil(failures.since + windowMs - this.#now());
    throw new TorporError("too_many_attempts", `signing in failed ${limit} times within a minute from this address`, {
      hint: `wait ${Math.ceil(retryAfterMs / 1000)} s; torpor open prints a new link`,
      details: { retryAfterMs },
    });
  }

  failed(address: string): void {
    const { count, since } = this.#of(address) ?? { count: 0, since: this.#now() };
    setLatest(this.#failures, keyOf(address), { count: count + 1, since }, rememberedLimit);
  }

  get size(): number {
    return this.#failures.size;
  }

  #of(address: string): Failures | undefined {
    const found = this.#failures.get(keyOf(address));
    return found !== undefined && this.#now() - found.since < windowMs ? found : undefined;
  }
}

/** Who has one address of IPv6 has at least 2^64 of them. */
function keyOf(address: string): string {
  if (!isIPv6(address) || address.toLowerCase().startsWith("::ffff:")) return address;
  const [head = "", tail] = address.split("%")[0]?.split("::") ?? [];
  const groups = head.split(":");
  return tail === undefined || groups.length >= 4 ? groups.slice(0, 4).join(":") : head;
}
