import { type ClientOptions, NotFound, type Terminal, Torpor } from "@torpor/sdk";

/** What a program does with one sandbox, wherever it runs: in a browser, on Node.js, Bun or Deno. Gives what it saw, which is `toured`. */
export async function tour(options: ClientOptions, name: string): Promise<unknown> {
  const torpor = new Torpor(options);
  const sandbox = await torpor.create({ image: "debian", name });
  const pieces: string[] = [];
  const { exitCode } = await sandbox.exec("echo first; until [ -e go ]; do sleep 0.02; done; echo second; exit 3", {
    // It ends only if the first line comes while it runs.
    onStdout: async (text) => {
      pieces.push(text);
      if (pieces.length === 1) await sandbox.files.write("go", "");
    },
  });
  const input = (await sandbox.exec(["cat"], { stdin: "grüße" })).stdout;
  await sandbox.files.write("bytes", new Uint8Array([0, 255, 10]));
  const bytes: number[] = [];
  for await (const chunk of (await sandbox.files.read("bytes", { as: "stream" })) as unknown as AsyncIterable<Uint8Array>)
    bytes.push(...chunk);
  const terminal = await sandbox.terminal({ command: ["cat"] });
  const before = await echo(terminal, "before");
  const paused = (await sandbox.pause()).state;
  const refused = await sandbox.exec("true").catch((error: { code: string }) => error.code);
  const resumed = (await sandbox.resume({ memory: "require" })).state;
  const after = await echo(terminal, "after");
  await sandbox.remove({ force: true });
  const gone = await sandbox.refresh().catch((error: unknown) => error instanceof NotFound);
  torpor.close();
  return { output: pieces.join(""), exitCode, input, bytes, before, paused, refused, resumed, after, gone };
}

/** Types a word and reads until the program has said it, beside the terminal's own echo. */
async function echo(terminal: Terminal, word: string): Promise<string> {
  await terminal.write(`${word}\n`);
  let seen = "";
  for await (const { text } of terminal) {
    seen += text;
    if (seen.split(word).length > 2) break;
  }
  return seen.replaceAll("\r", "");
}

export const toured = {
  output: "first\nsecond\n",
  exitCode: 3,
  input: "grüße",
  bytes: [0, 255, 10],
  before: "before\nbefore\n",
  paused: "paused",
  refused: "sandbox_not_running",
  resumed: "running",
  after: "after\nafter\n",
  gone: true,
};
