import { expect, test } from "vitest";
import { formatAptSources, parseAptSources, selectAptSources } from "./apt-sources.ts";

const deb822 = `Types: deb deb-src
# a comment
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates bookworm-backports
Components: main
  contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://mirror.example/debian-security
Suites: bookworm-security
Components: main

Types: deb
URIs: http://other.example/node
Suites: nodistro
Components: main

Enabled: no
Types: deb
URIs: http://off.example/debian
Suites: bookworm
Components: main
`;

test("Debian's own stanzas are taken, without backports, comments and disabled ones", () => {
  const sources = selectAptSources(parseAptSources(deb822, "deb822"), "bookworm", "bookworm");
  expect(sources.map(({ uris, suites, components }) => [uris, suites, components])).toEqual([
    [["http://mirror.example/debian"], ["bookworm", "bookworm-updates"], ["main", "contrib"]],
    [["http://mirror.example/debian-security"], ["bookworm-security"], ["main"]],
  ]);
});

test("one-line sources are read with their options; others' components are no Debian", () => {
  const text = `# deb http://old.example/debian bookworm main
deb [arch=amd64 signed-by=/etc/key.gpg] http://mirror.example/debian bookworm main non-free # trailing
deb http://docker.example/linux bookworm stable
deb-src http://mirror.example/debian bookworm main`;
  expect(selectAptSources(parseAptSources(text, "list"), "bookworm", "bookworm")).toEqual([
    { uris: ["http://mirror.example/debian"], suites: ["bookworm"], components: ["main", "non-free"], signedBy: "/etc/key.gpg" },
  ]);
});

test("another suite is looked for on the same mirror", () => {
  const text = formatAptSources(selectAptSources(parseAptSources(deb822, "deb822"), "bookworm", "trixie"));
  expect(text).toContain("Suites: trixie trixie-updates\n");
  expect(text).toContain("Suites: trixie-security\n");
  expect(text).not.toContain("bookworm");
});

test("what is written is read again as it was", () => {
  const sources = selectAptSources(parseAptSources(deb822, "deb822"), "bookworm", "bookworm");
  expect(parseAptSources(formatAptSources(sources), "deb822")).toEqual(sources);
});
