import { z } from "zod";

export const InterpreterLanguage = z.enum(["python", "shell"]);
export type InterpreterLanguage = z.infer<typeof InterpreterLanguage>;

export const CreateInterpreterRequest = z.strictObject({ language: InterpreterLanguage });
export type CreateInterpreterRequest = z.infer<typeof CreateInterpreterRequest>;

/** A process that keeps its variables from run to run, over pauses and in the children of forks. It is a session. */
export const Interpreter = z.object({ id: z.string(), language: InterpreterLanguage, pid: z.number().int() });
export type Interpreter = z.infer<typeof Interpreter>;

/** `{iid}`: the id of one, or the language for the sandbox's own one, which is begun by its first run. */
export const InterpreterId = z.string().regex(/^(se_[a-z2-7]{16}|python|shell)$/, "an id of an interpreter, or python or shell, is needed");

/** The sessions of a sandbox's own interpreters. */
export const ownInterpreters = { python: "se_pythonaaaaaaaaaa", shell: "se_shellaaaaaaaaaaa" } as const satisfies Record<
  InterpreterLanguage,
  string
>;

export const RunCodeRequest = z.strictObject({
  code: z.string().max(1_000_000),
  /** Then it is interrupted, and keeps its variables; one that cannot be interrupted is ended two seconds later. Default none. */
  timeoutMs: z.number().int().positive().max(86_400_000).optional(),
});
export type RunCodeRequest = z.infer<typeof RunCodeRequest>;

export const RunError = z.object({ name: z.string(), message: z.string(), traceback: z.string() });

export const RunResult = z.object({
  /** The last 8 MiB of each, as text. */
  stdout: z.string(),
  stderr: z.string(),
  /** Python: the last line's value, if it is an expression and not None, as `repr` shows it. */
  result: z.string().nullable(),
  /** Shell: of the last command. */
  exitCode: z.number().int().nullable(),
  /** What ended the run early; `TimeoutError` when it was the time limit. */
  error: RunError.nullable(),
});
export type RunResult = z.infer<typeof RunResult>;

/** One line of a run that is told as it goes on. */
export const RunLine = z.union([
  z.object({ stdout: z.string() }),
  z.object({ stderr: z.string() }),
  z.object({ end: RunResult.omit({ stdout: true, stderr: true }) }),
]);
export type RunLine = z.infer<typeof RunLine>;
