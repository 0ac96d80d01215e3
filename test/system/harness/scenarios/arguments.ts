import { content } from "./expectation.ts";
import type { Names, Step } from "./scenario.ts";

/** The sandbox that a step is about, by its name in the daemon. */
export function nameOf({ box }: Step, names: Names): string {
  return names.of(String(box));
}

/** What a step writes or types. */
export function inputOf(step: Step): Uint8Array {
  const { text, base64, bytes } = step as { text?: string; base64?: string; bytes?: number };
  if (text !== undefined) return Buffer.from(text);
  return base64 === undefined ? content(bytes ?? 0) : Buffer.from(base64, "base64");
}

/** Bytes of the client's, after each of which its connection breaks. */
export function cutsOf({ cuts = [] }: Step): number[] {
  return cuts as number[];
}
