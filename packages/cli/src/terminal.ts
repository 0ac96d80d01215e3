/** Size of the terminal that the output goes to; a usual one when there is none. */
export function terminalSize(): { rows: number; columns: number } {
  return { rows: process.stdout.rows || 24, columns: process.stdout.columns || 80 };
}

/** Hands every key on as it is, until the function it gives is called or the process ends, however it ends. */
export function rawInput(): () => void {
  const { stdin } = process;
  if (stdin.isTTY !== true) return () => {};
  const restore = () => void stdin.setRawMode(false);
  process.once("exit", restore);
  stdin.setRawMode(true);
  return () => {
    process.removeListener("exit", restore);
    restore();
  };
}
