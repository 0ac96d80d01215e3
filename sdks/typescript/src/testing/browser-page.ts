import { NotFound, Torpor } from "@torpor/sdk";

/** What a page does with the SDK, for a test: gives what it saw. */
export async function page(url: string): Promise<unknown> {
  const torpor = new Torpor({ url });
  const sandbox = await torpor.create({ image: "debian" });
  const result = await sandbox.exec(["cat"], { stdin: "grüße" });
  await sandbox.files.write("/a", new Blob(["1", "2"]));
  const text = await sandbox.files.read("/a");
  const command = await sandbox.exec("while [ ! -e go ]; do sleep 0.02; done; seq 1 1000; exit 4", { background: true });
  const end = new AbortController();
  const resumed = (async () => {
    for await (const { type } of sandbox.events({ after: 0, signal: end.signal })) if (type === "sandbox.resumed") return type;
    return undefined;
  })();
  await sandbox.pause();
  await sandbox.resume();
  await sandbox.files.write("go", "");
  const { exitCode, stdout } = await command.wait();
  const event = await resumed;
  end.abort();
  const paused = await (await sandbox.pause()).exec("true").catch((error: { code: string }) => error.code);
  const copied = await sandbox.files.upload("/etc/hostname", "/").catch((error: { code: string }) => error.code);
  await sandbox.remove({ force: true });
  const gone = await sandbox.refresh().catch((error: unknown) => error instanceof NotFound);
  torpor.close();
  return { stdout: result.stdout, text, exitCode, lines: stdout.split("\n").length, event, paused, copied, gone };
}
