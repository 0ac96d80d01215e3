import { table } from "./markdown.ts";
import { type FailpointEntry, failpoints } from "./operations/failpoints.ts";

const processesMeanings: Readonly<Record<FailpointEntry["processes"], string>> = {
  intact: "go on",
  fresh: "a fresh boot",
  ended: "ended",
};

/** docs/reference/failpoints.md, from the procedures of the operations and the source of the shim's table. */
export function renderFailpoints(shimSource: string): string {
  return `# Failpoints

<!-- Made from packages/core/src/operations and native/internal/shim/failpoint.go by scripts/reference/main.ts. -->

Every step at which a daemon can be killed in the middle of an operation, and what the next daemon has made of the sandbox before it listens. Each row is
walked on the in-memory engine (\`packages/core/src/operations/failpoints.test.ts\`) and on the real one (\`test/system/faults/recovery-walk.system.test.ts\`): killed there, restarted,
state, files and processes as the row says, and nothing left on the host. They are off by default:

- \`TORPOR_FAILPOINT=name[@n][:action],…\` in the daemon's environment has it act when it reaches the step the n-th time: \`kill\` (the default, or as
  \`TORPOR_FAILPOINT_ACTION\` says) ends the daemon with SIGKILL, \`stop\` stops it, \`error\` fails the step. Instead of the text the variable may have the absolute path of a
  file with it, which is read at each step and used up by a kill.
- \`TORPOR_SHIM_FAILPOINT=name\`, or the path of a file with the name, does the same to a [shim](#the-shim).

*Processes*: what becomes of those that ran before, now or after a resume.

## Operations

${table(
  ["operation", "failpoint", "when", "before", "after recovery", "processes"],
  failpoints.map(({ operation, name, when, from, allowed, processes }) => [
    operation,
    `\`${name}\``,
    when,
    from,
    allowed.join(" or "),
    processesMeanings[processes],
  ]),
)}

What had failed is begun again too; if it fails again, the sandbox is as [the table of states](states.md) says. A create whose image is not there yet is given up: a
daemon must not pull for minutes before it listens. An operation that has killed three daemons is undone by the fourth.

## The shim

What is left by a shim that ends at one of its steps is found and freed, or taken over by another shim: the call that it was at fails or is repeated, the sandbox's state is what it says
(\`test/system/faults/shim-failpoints.system.test.ts\`).

${table(
  ["failpoint", "when"],
  shimFailpoints(shimSource).map(({ name, when }) => [`\`${name}\``, when]),
)}
`;
}

export function shimFailpoints(source: string): { readonly name: string; readonly when: string }[] {
  return [...source.matchAll(/^\t\{"([^"]+)", "([^"]+)"\},$/gm)].map(([, name = "", when = ""]) => ({ name, when }));
}
