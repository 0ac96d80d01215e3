/** A command on a terminal of its own, by script(1); it writes the terminal's name down, for a later change of size. */
export function terminalCommand(argv: readonly string[], size: { rows: number; columns: number }, ttyFile: string): string[] {
  const command = argv.map(quote).join(" ");
  return ["script", "-qfec", `stty rows ${size.rows} cols ${size.columns}; tty >${quote(ttyFile)}; exec ${command}`, "/dev/null"];
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
