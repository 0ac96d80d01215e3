import { expect, onTestFinished, test } from "vitest";
import { greet, Installed, otherNodes } from "../system/harness/installed.ts";
import { testImage } from "../system/harness/test-image.ts";

test("one sandbox goes on while the installed daemon runs on the pinned, the oldest and the newest Node.js in turn", {
  timeout: 600_000,
}, async () => {
  const installed = Installed.make();
  onTestFinished(() => installed.remove());
  onTestFinished(() => installed.endDaemon(process.execPath));
  await installed.torpor(process.execPath, "daemon", "start");
  await installed.torpor(process.execPath, "image", "import", await testImage(), "debian");
  await installed.torpor(process.execPath, "create", "--name", "packed", "debian");
  const pid = await installed.torpor(process.execPath, "exec", "packed", "sh", "-c", "sleep 98765 >/dev/null 2>&1 & echo $!");
  for (const node of [process.execPath, ...otherNodes]) {
    await installed.torpor(node, "daemon", "start");
    await installed.torpor(node, "pause", "packed");
    await installed.torpor(node, "resume", "--memory", "require", "packed");
    expect(await installed.torpor(node, "exec", "packed", "cat", `/proc/${pid}/cmdline`)).toBe("sleep\u000098765\u0000");
    expect(await greet(installed, node, "packed")).toBe(await installed.run(node, "--version"));
    await installed.torpor(node, "daemon", "stop");
  }
});
