import { type TorporClient, TorporError } from "@torpor/sdk/calls";

/** A link that signs one browser in. The code stands after the #, which browsers send to nobody, so it is in no log. */
export async function pageLink(client: TorporClient, sandbox?: string): Promise<string> {
  const base = client.access.url ?? (await servedAt(client));
  const path = sandbox === undefined ? "/" : `/sandboxes/${encodeURIComponent((await client.get(sandbox)).name)}`;
  const { code } = await client.access.loginCode();
  return `${base}${path}#code=${code}`;
}

/** Where a daemon serves the page to this host, or to the world. */
async function servedAt(client: TorporClient): Promise<string> {
  const { addresses, publicUrl } = (await client.info()).listening;
  const own = publicUrl ?? addresses[0];
  if (own !== undefined) return reachable(own);
  throw new TorporError("invalid_request", "torpord serves its socket alone, so there is no page to open", {
    hint: "start it with torpor daemon start --listen auto",
  });
}

/** One that listens on all addresses is reached from here by the loopback one. */
export function reachable(url: string): string {
  return url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
}
