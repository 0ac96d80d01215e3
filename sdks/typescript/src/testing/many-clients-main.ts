import { readdirSync } from "node:fs";
import { Torpor } from "../index.ts";

/** Opens and closes clients, tells how many files are open after each round, and leaves the last client open. */
const socket = process.argv[2] as string;
const open: number[] = [];
for (let round = 0; round < 500; round++) {
  const torpor = new Torpor({ socket });
  const sandbox = await torpor.create({ image: "debian" });
  if (round % 25 === 0) {
    await sandbox.exec("echo hi");
    // A stream that nobody reads to its end.
    const command = await sandbox.exec("sleep 600", { background: true, stdin: true });
    await command.write("x");
    torpor.events
      .follow({ sandbox: sandbox.id })
      .next()
      .catch(() => {});
  }
  await sandbox.remove({ force: true });
  torpor.close();
  open.push(readdirSync("/proc/self/fd").length);
}
const torpor = new Torpor({ socket });
await torpor.list();
process.stdout.write(JSON.stringify(open));
