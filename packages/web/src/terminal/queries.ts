import type { IDisposable, Terminal } from "@xterm/xterm";

/** Queries by which a program asks a terminal for something that the terminal then types as an answer: DA, DSR, DECRQM. */
const sequences = [
  { final: "c" },
  { prefix: ">", final: "c" },
  { prefix: "=", final: "c" },
  { final: "n" },
  { prefix: "?", final: "n" },
  { intermediates: "$", final: "p" },
  { prefix: "?", intermediates: "$", final: "p" },
] as const;
/** Colours that are set or, with `?`, asked for. */
const colours = [4, 10, 11, 12];

/** Leaves queries unanswered while `silent`: those in a replay were answered long ago, and those that another tab answers. */
export function answerQueriesUnless(terminal: Terminal, silent: () => boolean): IDisposable {
  const { parser } = terminal;
  const handlers = [
    ...sequences.map((id) => parser.registerCsiHandler(id, silent)),
    // DECRQSS
    parser.registerDcsHandler({ intermediates: "$", final: "q" }, silent),
    ...colours.map((code) => parser.registerOscHandler(code, (data) => silent() && data.includes("?"))),
  ];
  return { dispose: () => handlers.forEach((handler) => void handler.dispose()) };
}
