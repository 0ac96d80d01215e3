/**
 * Modes that a program may leave set in the user's terminal when its session is left or ends, and what takes them back. In this order: the
 * other screen last, since leaving it brings the cursor back to where it was.
 */
const undoing: readonly (readonly [mode: string, setByDefault: boolean])[] = [
  ["1", false], // cursor keys send application codes
  ["9", false], // mouse, in six ways
  ["1000", false],
  ["1002", false],
  ["1003", false],
  ["1005", false],
  ["1006", false],
  ["1015", false],
  ["1004", false], // focus is reported
  ["2004", false], // pastes are bracketed
  ["7", true], // lines wrap
  ["25", true], // the cursor is seen
  ["47", false], // the other screen, in three ways
  ["1047", false],
  ["1049", false],
];
const defaults = new Map(undoing);
/** As long as the longest sequence that matters may be. */
const keptBytes = 64;

/** Watches what goes to a terminal, to know how to put it back. */
export class TerminalModes {
  readonly #changed = new Map<string, boolean>();
  #keypad = false;
  #styled = false;
  /** The end of what came before, in case a sequence was cut there. */
  #rest = "";

  see(data: Uint8Array): void {
    const text = this.#rest + Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("latin1");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: terminal sequences are control characters
    for (const [, modes, set, other, style] of text.matchAll(/\x1b(?:\[\?([\d;]+)([hl])|([=>c])|\[([\d;]*)m)/g)) {
      for (const mode of modes?.split(";") ?? []) this.#set(mode, set === "h");
      if (other !== undefined) this.#other(other);
      if (style !== undefined) this.#styled = style !== "" && style !== "0";
    }
    const last = text.lastIndexOf("\x1b");
    this.#rest = last < 0 || text.length - last > keptBytes || /[a-zA-Z=>]/.test(text.slice(last + 1)) ? "" : text.slice(last);
  }

  /** What puts the terminal back; empty when it is as it was. */
  undo(): string {
    const modes = undoing.filter(([mode, byDefault]) => (this.#changed.get(mode) ?? byDefault) !== byDefault);
    const back = modes.map(([mode, byDefault]) => `\x1b[?${mode}${byDefault ? "h" : "l"}`).join("");
    return (this.#styled ? "\x1b[0m" : "") + (this.#keypad ? "\x1b>" : "") + back;
  }

  #other(kind: string): void {
    if (kind === "c") this.#changed.clear();
    this.#keypad = kind === "=";
  }

  #set(mode: string, set: boolean): void {
    if (defaults.has(mode)) this.#changed.set(mode, set);
  }
}
