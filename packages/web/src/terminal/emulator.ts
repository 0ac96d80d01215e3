import type { Session, TerminalSize } from "@torpor/contract";
import { FitAddon } from "@xterm/addon-fit";
import { SearchAddon } from "@xterm/addon-search";
import { UnicodeGraphemesAddon } from "@xterm/addon-unicode-graphemes";
import { WebLinksAddon } from "@xterm/addon-web-links";
import { type ITheme, Terminal } from "@xterm/xterm";
import { answerQueriesUnless } from "./queries.ts";

const colours: ITheme = {
  background: "#0d1117",
  foreground: "#d6dae1",
  cursor: "#f3a46c",
  cursorAccent: "#0d1117",
  selectionBackground: "#33507a",
  black: "#1c2431",
  red: "#ff8f8f",
  green: "#9ece8a",
  yellow: "#e9c46a",
  blue: "#8fbaf2",
  magenta: "#d3a4ea",
  cyan: "#7fd0cf",
  white: "#d6dae1",
  brightBlack: "#8a94a3",
  brightRed: "#ffb0ae",
  brightGreen: "#bce5ab",
  brightYellow: "#f6dc94",
  brightBlue: "#b4d2fa",
  brightMagenta: "#e5c6f5",
  brightCyan: "#a6e6e4",
  brightWhite: "#ffffff",
};

export interface EmulatorEvents {
  typed(data: Uint8Array): void;
  /** Another size fits now. */
  fits(size: TerminalSize): void;
  /** The keys that leave it. */
  leave(): void;
  search(): void;
}

/** A terminal on the page: what is shown, typed, searched and copied. It knows no session. */
export class Emulator {
  readonly terminal: Terminal;
  readonly #fit = new FitAddon();
  readonly #search = new SearchAddon();
  readonly #events: EmulatorEvents;
  readonly #observer: ResizeObserver;
  #replaying = true;
  #following = false;
  /** Another client has set the size: it is this one's again as soon as somebody types here or points at it. */
  #isForeign = false;

  constructor(element: HTMLElement, events: EmulatorEvents) {
    this.#events = events;
    this.terminal = new Terminal({
      allowProposedApi: true,
      fontFamily: getComputedStyle(document.documentElement).getPropertyValue("--mono"),
      fontSize: innerWidth < 600 ? 12 : 13.5,
      scrollback: 10_000,
      theme: colours,
      minimumContrastRatio: 4.5,
      // A cursor that blinks is an animation: it draws 60 frames a second, and Chromium gives a page with one nothing from the network between a key
      // and its next frame. An echo came into sight after 29 ms; with a steady cursor after 6.
      cursorBlink: false,
    });
    this.terminal.loadAddon(this.#fit);
    this.terminal.loadAddon(this.#search);
    this.terminal.loadAddon(new UnicodeGraphemesAddon());
    this.terminal.loadAddon(new WebLinksAddon((_event, uri) => openLink(uri)));
    answerQueriesUnless(this.terminal, () => this.#replaying || document.visibilityState === "hidden");
    this.terminal.open(element);
    this.terminal.textarea?.setAttribute("aria-label", "Terminal. Control, Shift and Arrow up leave it.");
    const encoder = new TextEncoder();
    this.terminal.onData((text) => {
      this.#takeSize();
      events.typed(encoder.encode(text));
    });
    // Bytes that are no text, as old mouse reports have them.
    this.terminal.onBinary((text) => events.typed(Uint8Array.from(text, (char) => char.charCodeAt(0))));
    this.terminal.attachCustomKeyEventHandler((event) => this.#key(event));
    this.#observer = new ResizeObserver(() => this.fit());
    this.#observer.observe(element);
    element.addEventListener("focusin", () => this.fit());
    element.addEventListener("pointerdown", () => this.#takeSize());
  }

  get size(): TerminalSize {
    return { rows: this.terminal.rows, columns: this.terminal.cols };
  }

  write(data: Uint8Array, done: () => void): void {
    this.terminal.write(data, done);
  }

  /** What follows had been there before. */
  replay({ size, terminal }: Pick<Session, "size" | "terminal">): void {
    this.#replaying = true;
    this.#following = false;
    // What was written to a pipe has bare line feeds.
    this.terminal.options.convertEol = !terminal;
    if (size !== null) this.terminal.resize(size.columns, size.rows);
  }

  /** What follows is new; queries count as such when all that came before has been dealt with. */
  live(): void {
    this.terminal.write("", () => {
      this.#replaying = false;
    });
    this.#following = true;
    this.fit();
  }

  /** Takes the size that fits, and tells of it if it is another one. */
  fit(): void {
    const proposed = this.#fit.proposeDimensions();
    if (proposed === undefined || !this.#following || !(proposed.cols > 1 && proposed.rows > 1)) return;
    const size = { rows: proposed.rows, columns: proposed.cols };
    this.#isForeign = false;
    this.terminal.resize(size.columns, size.rows);
    this.#events.fits(size);
  }

  /** As another client of the session has set it. */
  resized({ rows, columns }: TerminalSize): void {
    this.#isForeign = true;
    this.terminal.resize(columns, rows);
  }

  /** A line of the page's own among the output. */
  remark(text: string): void {
    this.terminal.write(`\r\n\u001b[0;2m── ${text} ──\u001b[0m\r\n`);
  }

  find(text: string, direction: "next" | "previous"): boolean {
    return direction === "next" ? this.#search.findNext(text) : this.#search.findPrevious(text);
  }

  copy(): void {
    // xterm puts its selection into the event; the newer interface is for secure origins only.
    document.execCommand("copy");
  }

  dispose(): void {
    this.#observer.disconnect();
    this.terminal.dispose();
  }

  #takeSize(): void {
    if (this.#isForeign) this.fit();
  }

  /** False: the key is not the terminal's. */
  #key(event: KeyboardEvent): boolean {
    if (event.type !== "keydown" || !event.ctrlKey || !event.shiftKey) return true;
    switch (event.code) {
      case "ArrowUp":
        this.#events.leave();
        break;
      case "KeyC":
        if (this.terminal.hasSelection()) this.copy();
        break;
      case "KeyF":
        this.#events.search();
        break;
      case "KeyV":
        // The browser pastes.
        return false;
      default:
        return true;
    }
    event.preventDefault();
    return false;
  }
}

function openLink(uri: string): void {
  if (/^https?:/i.test(uri)) open(uri, "_blank", "noopener,noreferrer");
}
