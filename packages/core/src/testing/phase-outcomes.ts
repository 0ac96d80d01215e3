import type { Variant } from "./operation-scenes.ts";

interface PhaseOutcome {
  /** In their order. */
  readonly phases: readonly string[];
  /** How many of them, from the first on, can be given up. */
  readonly cancelable: number;
}

/** What is seen of each operation on its way, as it is shown to whoever asks. */
export const phaseOutcomes: Readonly<Record<Variant, PhaseOutcome>> = {
  create: { phases: ["image", "disk", "boot"], cancelable: 3 },
  pause: { phases: ["quiesce", "freeze", "capture", "seal", "reclaim"], cancelable: 4 },
  "pause, files only": { phases: ["shutdown", "reclaim"], cancelable: 0 },
  resume: { phases: ["launch"], cancelable: 1 },
  "fork of a running one": { phases: ["quiesce", "freeze", "capture", "thaw", "seal", "children"], cancelable: 5 },
  "fork of one at rest": { phases: ["children"], cancelable: 0 },
  stop: { phases: ["shutdown", "reclaim"], cancelable: 0 },
  "stop after its runtime ended": { phases: ["reclaim"], cancelable: 0 },
  start: { phases: ["launch"], cancelable: 1 },
  remove: { phases: ["reclaim", "free"], cancelable: 0 },
  "snapshot of a running one": { phases: ["quiesce", "freeze", "capture", "thaw", "seal", "settle"], cancelable: 6 },
  "snapshot of one at rest": { phases: ["reclaim", "copy"], cancelable: 2 },
  restore: { phases: ["copy", "reclaim"], cancelable: 2 },
  rebase: { phases: ["reclaim", "copy"], cancelable: 2 },
};
