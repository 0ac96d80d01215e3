/** What was looked at on this host. */
export interface Finding {
  readonly name: string;
  /** fault: torpord does not work like this. notice: it works, and less well. */
  readonly state: "ok" | "notice" | "fault";
  /** What was found. */
  readonly found: string;
  /** How to mend it, for what is not ok. */
  readonly mend?: string;
}

/** What the looks need of the host, so that tests can be other hosts. */
export interface Host {
  readonly root: boolean;
  readonly platform: string;
  readonly architecture: string;
  readonly kernel: string;
  /** The data directory that is meant. */
  readonly data: string;
  readonly memoryBytes: number;
  /** A file's text; undefined if there is none. */
  read(path: string): Promise<string | undefined>;
  /** Where a program is that can be started; undefined if nowhere. */
  program(name: string): Promise<string | undefined>;
  /** Programs that could be torpord's engine, in its order. */
  engines(): Promise<readonly string[]>;
  /** Its output; undefined if it fails. */
  run(program: string, ...args: string[]): Promise<string | undefined>;
  /** Free bytes of the file system at a path, or where it would be made, and its type as `stat -f` names it. */
  space(path: string): Promise<{ readonly freeBytes: number; readonly type: string }>;
  /** What the daemon that runs there tells of itself; undefined if none does. */
  daemon(): Promise<{ readonly version: string; readonly engine: string; readonly warning: string | null } | undefined>;
}
