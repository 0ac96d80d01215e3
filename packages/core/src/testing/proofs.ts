import type { OperationKind } from "@torpor/contract";
import type { Crosser } from "../lifecycle/crossings.ts";
import type { Command, SettledState } from "../lifecycle/states.ts";
import type { Proofs } from "../proof.ts";
import { crossingOutcomes } from "./crossing-outcomes.ts";
import type { Variant } from "./operation-scenes.ts";
import { phaseOutcomes } from "./phase-outcomes.ts";
import { courseOutcomes, stateOutcomes } from "./state-outcomes.ts";

/** The tests of the cells of docs/reference, each named by what it finds. */
export const proofs: Proofs = {
  rest: (command, state) => ({ file: "lifecycle/decide.test.ts", test: restTitle(command, state) }),
  course: (command, part) => ({ file: "lifecycle/courses.test.ts", test: courseTitle(command, part) }),
  crossing: (active, crosser) => ({ file: "lifecycle/crossings.test.ts", test: crossingTitle(crosser, active) }),
  phases: (variant) => ({ file: "operations/phases.test.ts", test: phasesTitle(variant) }),
};

export function restTitle(command: Command, state: SettledState): string {
  return `${command} of a ${state} one: ${stateOutcomes[command][state]}`;
}

const when = { meanwhile: "meanwhile", success: "after success", failure: "after a failure" } as const;

export function courseTitle(command: Command, part: keyof typeof when): string {
  return `${command}: ${courseOutcomes[command][part]} ${when[part]}`;
}

export function crossingTitle(crosser: Crosser, active: OperationKind): string {
  return `${crosser} during ${active} ${crossingOutcomes[active][crosser]}`;
}

export function phasesTitle(variant: Variant): string {
  const { phases, cancelable } = phaseOutcomes[variant];
  return `${variant}: ${phases.join(", ")}; cancelable in ${phases.slice(0, cancelable).join(", ") || "none"}`;
}
