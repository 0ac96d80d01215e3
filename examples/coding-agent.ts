// A coding agent that tries alternatives side by side: it forks its sandbox, lets each copy make one change and run the tests, goes on in the best copy and
// drops the others. TORPOR_SOCKET, or TORPOR_URL and TORPOR_TOKEN, say which server.   node examples/coding-agent.ts
import { type Sandbox, Torpor } from "@torpor/sdk";

const program = `import re

def slug(title):
    return title
`;

const tests = `from slug import slug
passed = sum([
    slug("Hello") == "hello",
    slug("Two words") == "two-words",
    slug("What?! Now") == "what-now",
    slug(" edge ") == "edge",
])
print(passed)
`;

interface Proposal {
  readonly title: string;
  readonly code: string;
}

/** Here a model would be asked, with the code and what the tests said. This one knows three tricks, and proposes each on top of what there is. */
async function propose(code: string): Promise<Proposal[]> {
  const expression = /return (.*)/.exec(code)?.[1] ?? "title";
  const on = (title: string, next: string) => ({ title, code: code.replace(`return ${expression}`, () => `return ${next}`) });
  return [
    on("lower case", `(${expression}).lower()`),
    on("dashes for all that is no letter", `re.sub("[^A-Za-z]+", "-", ${expression})`),
    on("no dashes at the ends", `(${expression}).strip("-")`),
  ];
}

async function score(sandbox: Sandbox): Promise<number> {
  const { exitCode, stdout } = await sandbox.exec("python3 tests.py", { workdir: "/root", timeoutMs: 30_000 });
  return exitCode === 0 ? Number(stdout) : 0;
}

/** Tries each proposal in a copy of its own, all at once. Gives the copies, the best first. */
async function tryAll(from: Sandbox, proposals: readonly Proposal[]) {
  const children = await from.forkMany({ count: proposals.length });
  const tries = children.map(async (child, index) => {
    const proposal = proposals[index];
    if (child.error !== null || proposal === undefined) return [];
    await child.sandbox.files.write("/root/slug.py", proposal.code);
    return [{ proposal, sandbox: child.sandbox, passed: await score(child.sandbox) }];
  });
  return (await Promise.all(tries)).flat().sort((a, b) => b.passed - a.passed);
}

using torpor = new Torpor();
let best = await torpor.create({ image: "debian" });
try {
  await best.files.write("/root/slug.py", program);
  await best.files.write("/root/tests.py", tests);
  let passed = await score(best);
  for (let round = 1; passed < 4 && round <= 5; round++) {
    const [winner, ...others] = await tryAll(best, await propose(await best.files.read("/root/slug.py")));
    if (winner === undefined) throw new Error("no copy could be made");
    await Promise.all([best, ...others.map(({ sandbox }) => sandbox)].map((sandbox) => sandbox.remove({ force: true })));
    ({ sandbox: best, passed } = winner);
    console.log(`round ${round}: ${winner.proposal.title}, ${passed} of 4 tests pass`);
  }
  console.log((await best.files.read("/root/slug.py")).trim().split("\n").at(-1)?.trim());
} finally {
  await best.remove({ force: true });
}
