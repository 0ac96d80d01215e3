/** What a process of an in-memory runtime is; plain data, so that a checkpoint is a copy of it. */
export interface MemoryProcess {
  readonly pid: number;
  readonly sessionId: string;
  readonly argv: readonly string[];
  /** The memory of a counter: what a restore has to bring back. */
  count: number;
}

/** What a process does to the outside. */
export interface ProcessOutput {
  print(text: string): void;
  exit(code: number): void;
}

interface Program {
  start?(process: MemoryProcess, output: ProcessOutput): void;
  tick?(process: MemoryProcess, output: ProcessOutput): void;
  input?(text: string, eof: boolean, output: ProcessOutput): void;
}

const programs: Readonly<Record<string, Program>> = {
  true: { start: (_, output) => output.exit(0) },
  false: { start: (_, output) => output.exit(1) },
  echo: {
    start({ argv }, output) {
      output.print(`${argv.slice(1).join(" ")}\n`);
      output.exit(0);
    },
  },
  cat: {
    input(text, eof, output) {
      if (text !== "") output.print(text);
      if (eof) output.exit(0);
    },
  },
  sh: {
    start({ argv }, output) {
      output.exit(Number(/^exit (\d+)$/.exec(argv[2] ?? "")?.[1] ?? 2));
    },
  },
  sleep: {},
  listen: {},
  counter: {
    tick(process, output) {
      process.count++;
      output.print(`${process.count}\n`);
    },
  },
};

export function programOf(argv: readonly string[]): Program | undefined {
  return programs[argv[0] ?? ""];
}
