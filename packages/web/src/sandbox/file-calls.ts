import type { Entry } from "@torpor/contract";
import { call, queryText, request } from "../api/call.ts";

const base = (id: string) => `/v1/sandboxes/${encodeURIComponent(id)}`;

export async function listDirectory(id: string, path: string): Promise<Entry[]> {
  const { entries } = await call<{ entries: Entry[] }>("GET", `${base(id)}/files/list`, { query: { path, depth: 1 } });
  return entries.sort(directoriesFirst);
}

/** Also by a link: it is where it leads. */
export const isDirectory = async (id: string, { path, type }: Entry) =>
  type === "directory" ||
  (type === "symlink" &&
    (await listDirectory(id, path).then(
      () => true,
      () => false,
    )));

export const readText = async (id: string, path: string) => (await request("GET", `${base(id)}/files`, { query: { path } })).arrayBuffer();
export const writeFile = (id: string, path: string, body: Blob | string) => request("PUT", `${base(id)}/files`, { query: { path }, body });
export const makeDirectory = (id: string, path: string) => call("POST", `${base(id)}/files/directories`, { json: { path } });
export const removeFile = (id: string, path: string) => call("DELETE", `${base(id)}/files`, { query: { path, recursive: true } });

/** A name with other bytes than UTF-8 comes with marks in their place, and no call leads to what it names. */
export const isNamable = ({ name }: Entry): boolean => !name.includes("\uFFFD");

/** Where the browser finds it: a directory as a tar file. */
export function downloadAddress(id: string, { path, type }: Entry): string {
  return `${base(id)}/${type === "directory" ? "archive" : "files"}${queryText({ path })}`;
}

export function join(directory: string, name: string): string {
  return directory.endsWith("/") ? `${directory}${name}` : `${directory}/${name}`;
}

export function parentOf(path: string): string {
  return path.replace(/\/[^/]*\/?$/, "") || "/";
}

/** `/a/b` as [`/`, `/`], [`a`, `/a`], [`b`, `/a/b`]. */
export function crumbsOf(path: string): [name: string, path: string][] {
  const names = path.split("/").filter(Boolean);
  return [["/", "/"], ...names.map((name, i): [string, string] => [name, `/${names.slice(0, i + 1).join("/")}`])];
}

export interface FileText {
  /** With bare line feeds: a field of a page has no other line ends. */
  readonly text: string;
  /** What its lines really end in; undefined: not all in the same. */
  readonly lineEnd: "\n" | "\r\n" | undefined;
}

/** The text of a file; undefined: it is none. */
export function textOf(content: ArrayBuffer): FileText | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content);
    return text.includes("\0") ? undefined : { text: text.replaceAll(/\r\n?/g, "\n"), lineEnd: lineEndOf(text) };
  } catch {
    return undefined;
  }
}

function lineEndOf(text: string): FileText["lineEnd"] {
  const [ends, fulls, returns] = [/\n/g, /\r\n/g, /\r/g].map((mark) => text.match(mark)?.length ?? 0);
  if (returns === 0) return "\n";
  return ends === fulls && returns === fulls ? "\r\n" : undefined;
}

function directoriesFirst(a: Entry, b: Entry): number {
  const rank = ({ type }: Entry) => (type === "directory" ? 0 : 1);
  return rank(a) - rank(b) || a.name.localeCompare(b.name);
}
