/** One stanza of apt's sources. */
export interface AptSource {
  readonly uris: readonly string[];
  readonly suites: readonly string[];
  readonly components: readonly string[];
  readonly signedBy: string | undefined;
}

/** Debian's own; others' repositories have components of other names. */
const debianComponents: ReadonlySet<string> = new Set(["main", "contrib", "non-free", "non-free-firmware"]);
const suffixes = "(?:-updates|-security|/updates)";

/** The sources of `*.sources` (deb822) and `*.list` files, comments, source packages and disabled ones left out. */
export function parseAptSources(text: string, kind: "deb822" | "list"): AptSource[] {
  const lines = text.split("\n").filter((line) => !line.trimStart().startsWith("#"));
  return kind === "list"
    ? lines.flatMap(parseLine)
    : lines
        .join("\n")
        .split(/\n\s*\n/)
        .flatMap(parseStanza);
}

/** Those of Debian's archive that an image of the suite is made from, written for that suite if the host has another. */
export function selectAptSources(sources: readonly AptSource[], hostSuite: string, suite: string): AptSource[] {
  const pattern = new RegExp(`^${hostSuite}(${suffixes}?)$`);
  return sources.flatMap((source) => {
    const suites = source.suites.flatMap((name) => {
      const match = pattern.exec(name);
      return match === null ? [] : [suite + (match[1] ?? "")];
    });
    const components = source.components.filter((name) => debianComponents.has(name));
    return suites.length > 0 && components.includes("main") ? [{ ...source, suites, components }] : [];
  });
}

export function formatAptSources(sources: readonly AptSource[]): string {
  return sources
    .map(({ uris, suites, components, signedBy }) =>
      [
        "Types: deb",
        `URIs: ${uris.join(" ")}`,
        `Suites: ${suites.join(" ")}`,
        `Components: ${components.join(" ")}`,
        ...(signedBy === undefined ? [] : [`Signed-By: ${signedBy}`]),
        "",
      ].join("\n"),
    )
    .join("\n");
}

function parseLine(line: string): AptSource[] {
  const match = /^deb\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+(\S+)\s*([^#]*)/.exec(line.trim());
  if (match === null) {
    return [];
  }
  const [, options = "", uri = "", suite = "", components = ""] = match;
  return [{ uris: [uri], suites: [suite], components: words(components), signedBy: /signed-by=(\S+)/.exec(options)?.[1] }];
}

function parseStanza(stanza: string): AptSource[] {
  const fields = new Map<string, string>();
  // A line that starts with a space goes on with the field before it.
  for (const line of stanza.replace(/\n[ \t]+/g, " ").split("\n")) {
    const at = line.indexOf(":");
    if (at > 0) {
      fields.set(line.slice(0, at).trim().toLowerCase(), line.slice(at + 1).trim());
    }
  }
  const list = (name: string) => words(fields.get(name) ?? "");
  const signedBy = fields.get("signed-by");
  if (!list("types").includes("deb") || fields.get("enabled")?.toLowerCase() === "no") {
    return [];
  }
  // Only a path: a key written into the field itself can't be told from the next line's text here.
  return [
    {
      uris: list("uris"),
      suites: list("suites"),
      components: list("components"),
      signedBy: signedBy?.startsWith("/") === true ? signedBy : undefined,
    },
  ];
}

function words(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}
