import type { Difference, FileFacts } from "@torpor/sdk/calls";

const letters: Readonly<Record<Difference["change"], string>> = { added: "A", changed: "C", removed: "R", unread: "?" };

/** A line: a letter, the path, and of a changed one in what. */
export function describeDifference(difference: Difference): string {
  const { change, path, pathBase64, before, after, what, reason } = difference;
  const name = escapeName(pathBase64 === undefined ? Buffer.from(path) : Buffer.from(pathBase64, "base64"));
  const slash = (after ?? before)?.type === "directory" && path !== "/" ? "/" : "";
  const details = reason ?? (before === null || after === null ? "" : what.map((aspect) => aspects[aspect](before, after)).join(", "));
  return `${letters[change]} ${name}${slash}${details === "" ? "" : `  (${details})`}`;
}

const aspects: Readonly<Record<Difference["what"][number], (before: FileFacts, after: FileFacts) => string>> = {
  type: (before, after) => `${before.type} became ${after.type}`,
  content: () => "content",
  mode: (before, after) => `mode ${octal(before.mode)} became ${octal(after.mode)}`,
  owner: (before, after) => `owner ${before.uid}:${before.gid} became ${after.uid}:${after.gid}`,
};

function octal(mode: number): string {
  return mode.toString(8).padStart(3, "0");
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * A name that a sandbox chose, so that it is told exactly and does nothing to the terminal: a backslash and whatever is no visible character
 * (control characters, marks that turn the direction of writing, bytes that are no UTF-8) stands as \xNN for each of its bytes.
 */
export function escapeName(bytes: Uint8Array): string {
  let escaped = "";
  for (let at = 0; at < bytes.length; ) {
    const character = characterAt(bytes, at);
    const plain = character !== undefined && /^[^\p{C}\p{Zl}\p{Zp}\\]$/u.test(character);
    const length = character === undefined ? 1 : Buffer.byteLength(character);
    escaped += plain ? character : hex(bytes.subarray(at, at + length));
    at += length;
  }
  return escaped;
}

function characterAt(bytes: Uint8Array, at: number): string | undefined {
  for (let length = 1; length <= 4 && at + length <= bytes.length; length++) {
    try {
      return utf8.decode(bytes.subarray(at, at + length));
    } catch {
      // Too short, or no character at all.
    }
  }
  return undefined;
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("");
}
