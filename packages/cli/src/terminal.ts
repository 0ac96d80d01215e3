import { spawnSync } from "node:child_process";

/** Size of the terminal that the output goes to; a usual one when there is none. */
export function terminalSize(): { rows: number; columns: number } {
  return { rows: process.stdout.rows || 24, columns: process.stdout.columns || 80 };
}

/**
 * Hands every key on as it is, until the function it gives is called or the process ends, however it ends. Output goes out as
 * it comes too: Node.js leaves it to the terminal to put a CR before each LF, which the sandbox's terminal has done already
 * where it is wanted; a full-screen program that moves down by LF would land in the first column.
 */
export function rawInput(): () => void {
  const { stdin } = process;
  if (stdin.isTTY !== true) return () => {};
  const restore = () => void stdin.setRawMode(false);
  process.once("exit", restore);
  stdin.setRawMode(true);
  spawnSync("stty", ["-opost"], { stdio: ["inherit", "ignore", "ignore"] });
  return () => {
    process.removeListener("exit", restore);
    restore();
  };
}
