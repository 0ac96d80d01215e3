import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { Marked, type Token, type Tokens } from "marked";
import { beforeAll, describe, expect, test } from "vitest";
import { targetOf } from "../../scripts/docs/links.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const pages = ["docs/reference/states.md", "docs/reference/crossings.md", "docs/reference/failures.md"];

/** A link of a table to a test: its title is the test's name, or that of the group. */
interface Proof {
  readonly file: string;
  readonly name: string;
}

const rows = pages.flatMap((page) =>
  tablesOf(page).flatMap(({ header, rows }) =>
    rows.map((cells) => ({ page, first: cells[0]?.text ?? "", cells: cells.map((cell) => proofsOf(cell, page)), columns: header.length })),
  ),
);
const linked = [...new Set(rows.flatMap(({ cells }) => cells.flat()).map(({ file }) => file))];

describe("the tables of states, crossings and failures", () => {
  let names: ReadonlyMap<string, ReadonlySet<string>>;
  beforeAll(() => {
    // Names that a table of the test makes are known only to who collects it, which takes seconds with what a system test imports.
    const made = linked.filter((file) => file.startsWith("packages/core/src/lifecycle/") || file.endsWith("/phases.test.ts"));
    names = new Map([
      ...namesOf(
        linked.filter((file) => !made.includes(file)),
        [],
      ),
      ...namesOf(made, ["--no-static-parse"]),
    ]);
  }, 180_000);

  test.each(rows)("$page, $first: its tests are there", ({ page, cells }) => {
    const proofs = cells.flat();
    expect(proofs).not.toEqual([]);
    // Of a state or crossing each cell has its own, of a failure the last one has all.
    if (!page.endsWith("failures.md")) expect(cells.slice(1).map((cell) => cell.length > 0)).not.toContain(false);
    expect(proofs.filter(({ file, name }) => names.get(file)?.has(name) !== true)).toEqual([]);
  });
});

function tablesOf(page: string): Tokens.Table[] {
  return new Marked().lexer(readFileSync(path.join(root, page), "utf8")).filter((token) => token.type === "table") as Tokens.Table[];
}

function proofsOf({ tokens }: Tokens.TableCell, page: string): Proof[] {
  const proofs: Proof[] = [];
  void new Marked().walkTokens(tokens as Token[], (token) => {
    if (token.type !== "link") return;
    const file = targetOf((token as Tokens.Link).href, page)?.file ?? "";
    if (file.endsWith(".test.ts")) proofs.push({ file, name: (token as Tokens.Link).title ?? "" });
  });
  return proofs;
}

/** Of each file its tests and groups. What a test's table puts into its name is `…` if it was not collected. */
function namesOf(files: readonly string[], options: readonly string[]): Map<string, Set<string>> {
  const directory = mkdtempSync(path.join(tmpdir(), "torpor-names-"));
  const list = path.join(directory, "list.json");
  const vitest = path.join(root, "node_modules/vitest/vitest.mjs");
  execFileSync(process.execPath, [vitest, "list", ...options, `--json=${list}`, ...files], {
    cwd: root,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const names = new Map<string, Set<string>>();
  for (const { file, name } of JSON.parse(readFileSync(list, "utf8")) as { file: string; name: string }[]) {
    const known = names.get(path.relative(root, file)) ?? new Set();
    names.set(path.relative(root, file), known);
    for (const part of name.split(" > ")) known.add(part.replaceAll(/%[a-z]|\$\w+|\$\{\w+\}/g, "…"));
  }
  rmSync(directory, { recursive: true });
  return names;
}
