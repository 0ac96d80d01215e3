import { signal } from "@preact/signals";

export type Tab = "terminal" | "sessions" | "timeline" | "files" | "snapshots" | "ports" | "settings";
export const tabs: readonly Tab[] = ["terminal", "sessions", "timeline", "files", "snapshots", "ports", "settings"];

export type Place =
  | { readonly at: "sandboxes" }
  | { readonly at: "family" }
  | {
      readonly at: "sandbox";
      readonly name: string;
      readonly tab: Tab;
      readonly session: string | undefined;
      /** Another sandbox whose terminal is shown beside this one's. */
      readonly beside: string | undefined;
      /** The directory that the tab of files shows; undefined: the sandbox's working directory. */
      readonly directory: string | undefined;
    }
  | { readonly at: "nowhere" };

export const place = signal<Place>({ at: "sandboxes" });

export function placeOf(path: string, query = ""): Place {
  const [first, name, tab = "terminal", session, ...more] = path.split("/").filter(Boolean).map(decode);
  if (first === undefined || (first === "sandboxes" && name === undefined)) return { at: "sandboxes" };
  if (first === "family" && name === undefined) return { at: "family" };
  const known = tabs.find((one) => one === tab);
  if (first !== "sandboxes" || name === undefined || known === undefined || more.length > 0) return { at: "nowhere" };
  const asked = new URLSearchParams(query);
  const directory = asked.get("directory")?.replace(/^\/*/, "/");
  return { at: "sandbox", name, tab: known, session, beside: asked.get("beside") ?? undefined, directory };
}

export function pathTo(name: string, tab: Tab = "terminal", session?: string, beside?: string): string {
  const path = ["", "sandboxes", name, tab, ...(session === undefined ? [] : [session])].map(encodeURIComponent).join("/");
  return beside === undefined ? path : `${path}?beside=${encodeURIComponent(beside)}`;
}

/** Not as a part of the path: of that a browser resolves `..` and drops empty ones. */
export function pathToDirectory(name: string, directory: string): string {
  return `${pathTo(name, "files")}?directory=${encodeURIComponent(directory).replaceAll("%2F", "/")}`;
}

export function navigate(path: string, how: "push" | "replace" = "push"): void {
  if (how === "push") history.pushState(null, "", path);
  else history.replaceState(null, "", path);
  read();
  if (how === "push") scrollTo(0, 0);
}

/** Links within the page change the place without a load; all others are the browser's. */
export function watchPlace(): void {
  read();
  addEventListener("popstate", read);
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = (event.target as Element).closest?.("a");
    if (link === null || link === undefined || link.target !== "" || link.hasAttribute("download") || link.origin !== location.origin)
      return;
    if (/^\/(v1|docs)(\/|$)/.test(link.pathname)) return;
    event.preventDefault();
    navigate(link.pathname + link.search);
  });
}

function read(): void {
  place.value = placeOf(location.pathname, location.search);
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
