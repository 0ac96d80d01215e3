/** What the side of every page lists, in its order: paths below docs/. A test has every page in it. */
export const contents: readonly { readonly title: string; readonly pages: readonly string[] }[] = [
  { title: "Start", pages: ["index.md", "quickstart.md", "concepts.md", "page.md", "faq.md", "comparison.md"] },
  {
    title: "Guides",
    pages: [
      "guides/three-fixes.md",
      "guides/warm-base.md",
      "guides/wait-for-a-person.md",
      "guides/wakes.md",
      "guides/services.md",
      "guides/ports.md",
      "guides/database.md",
      "guides/deploy.md",
    ],
  },
  { title: "Clients", pages: ["reference/typescript.md", "sdk-python.md", "reference/cli.md"] },
  {
    title: "A server",
    pages: ["operations.md", "access.md", "events-and-webhooks.md", "threat-model.md"],
  },
  {
    title: "Reference",
    pages: [
      "reference/errors.md",
      "reference/states.md",
      "reference/crossings.md",
      "reference/failures.md",
      "reference/failpoints.md",
      "decisions/index.md",
    ],
  },
];
