import { Option } from "commander";
import { parseDuration } from "./duration.ts";

/** As long as the API takes. */
const forEverMs = 86_400_000;

/** `--wait-capacity [duration]`, for what takes room on the node. */
export function waitCapacityOption(): Option {
  return new Option("--wait-capacity [duration]", "wait for room on the node where others hold it, in place of the refusal; default 1d")
    .preset("1d")
    .argParser((text: string) => Math.min(parseDuration(text), forEverMs));
}

export interface WaitCapacity {
  waitCapacity?: number;
}

export function waitingForRoom({ waitCapacity }: WaitCapacity): { waitCapacityMs?: number } {
  return waitCapacity === undefined ? {} : { waitCapacityMs: waitCapacity };
}
