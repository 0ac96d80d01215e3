interface Fault {
  readonly message: string;
  readonly hint?: string | undefined;
}

/** What went wrong and what to do about it, in a line. */
export function sentence({ message, hint }: Fault): string {
  return hint === undefined ? message : `${message} — ${hint}`;
}
