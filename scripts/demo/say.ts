const tty = process.stdout.isTTY === true;
const plain = process.env.NO_COLOR !== undefined || !tty;

/** Tells what is done, does it, and tells how long it took and what came of it. */
export async function step(title: string, action: () => Promise<string>): Promise<void> {
  const started = performance.now();
  const outcome = await action();
  const time = `${((performance.now() - started) / 1000).toFixed(2)} s`.padStart(8);
  paint("");
  process.stdout.write(`${time}  ${bold(title)}\n${outcome === "" ? "" : `          ${outcome}\n`}`);
}

/** Progress of long work, on one line that the next one replaces; nothing where there is no terminal. */
export function paint(text: string): void {
  if (tty) process.stdout.write(`\r\u001b[2K${text === "" ? "" : `          ${text.slice(0, (process.stdout.columns ?? 80) - 12)}`}`);
}

export function bytes(count: number): string {
  return count < 2 ** 30 ? `${(count / 2 ** 20).toFixed(1)} MiB` : `${(count / 2 ** 30).toFixed(1)} GiB`;
}

/** `link`: to the page, where there is one. */
export function next(sandbox: string, link: string | undefined): void {
  const data = process.env.TORPOR_DATA;
  const set = data === undefined || data === "/var/lib/torpor" ? "" : `export TORPOR_DATA=${data}; `;
  const page =
    link === undefined ? "" : `\n${bold("The page")}, by a link that counts once, for 5 minutes (torpor open prints another)\n  ${link}\n`;
  process.stdout.write(`${page}
${bold("Try next")}
  ${set}scripts/torpor list
  scripts/torpor exec -it ${sandbox} bash              a shell in it
  scripts/torpor pause ${sandbox}; scripts/torpor resume ${sandbox}
  scripts/torpor fork ${sandbox}                       prints the child's id
  scripts/torpor create --name mine debian             a sandbox of your own
  scripts/torpor --help

  scripts/torpor daemon stop                          ends torpord; sandboxes go on
  scripts/torpor daemon stop --remove-data            also removes everything it made
`);
}

function bold(text: string): string {
  return plain ? text : `\u001b[1m${text}\u001b[0m`;
}
