import type { Sandbox } from "@torpor/contract";

/** What the phases of the operations do, in the user's words. */
const steps: Readonly<Record<string, readonly (readonly [phase: string, text: string])[]>> = {
  create: [
    ["image", "Find the image"],
    ["disk", "Make a disk of its own"],
    ["boot", "Start the machine, and hear its first answer"],
  ],
  pause: [
    ["quiesce", "Write what is unwritten"],
    ["freeze", "Freeze the processes"],
    ["capture", "Save their memory"],
    ["seal", "Check what was saved"],
    ["reclaim", "Release memory and CPU"],
  ],
  resume: [["launch", "Bring the processes back"]],
  start: [["launch", "Boot it from its files"]],
  stop: [
    ["shutdown", "Ask its processes to end, for 10 s at most"],
    ["reclaim", "Release memory and CPU"],
  ],
  remove: [
    ["shutdown", "End its processes"],
    ["reclaim", "Release memory and CPU"],
    ["free", "Delete its disk and its checkpoint"],
  ],
};

/** How far the operation at work is. */
export function Progress({ operation }: { readonly operation: NonNullable<Sandbox["operation"]> }) {
  const known = steps[operation.kind] ?? [];
  const at = known.findIndex(([phase]) => phase === operation.phase);
  if (at === -1) {
    return (
      <ul class="steps">
        <li class="now">
          {operation.kind}: {operation.phase}
        </li>
      </ul>
    );
  }
  return (
    <ol class="steps">
      {known.map(([phase, text], i) => (
        <li key={phase} class={i < at ? "done" : i === at ? "now" : ""} {...(i === at ? { "aria-current": "step" as const } : {})}>
          {text}
        </li>
      ))}
    </ol>
  );
}
