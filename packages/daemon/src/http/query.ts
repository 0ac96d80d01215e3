/** Set on a query with text that is no percent-encoded UTF-8: the router's parser may not throw, so a hook refuses it. */
export const malformed = Symbol("malformed");

export type Query = Record<string, string | string[]> & { [malformed]?: string };

/**
 * A query string, percent-decoded exactly once. A key that comes twice becomes an array, which the schemas refuse. Most
 * parsers hand on malformed text as if it were decoded; here it is marked.
 */
export function parseQuery(text: string): Query {
  const query: Query = Object.create(null);
  for (const pair of text.split("&")) {
    if (pair === "") continue;
    try {
      add(query, pair);
    } catch {
      query[malformed] = pair.slice(0, 40);
    }
  }
  return query;
}

function add(query: Query, pair: string): void {
  const at = pair.indexOf("=");
  const key = decode(at < 0 ? pair : pair.slice(0, at));
  const value = at < 0 ? "" : decode(pair.slice(at + 1));
  const earlier = query[key];
  query[key] = earlier === undefined ? value : [earlier, value].flat();
}

function decode(text: string): string {
  return decodeURIComponent(text.replaceAll("+", " "));
}
