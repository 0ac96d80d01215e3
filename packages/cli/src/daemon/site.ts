import { resolve } from "node:path";
import { dataDirectory, socketPath } from "@torpor/contract/place";
import { TorporClient, TorporError } from "@torpor/sdk/calls";
import type { Command } from "commander";

/** Where a daemon is, or shall be. */
export interface Site {
  readonly data: string;
  readonly socket: string;
  readonly lock: string;
  readonly log: string;
}

export function siteOf(command: Command): Site {
  const { data: given, socket } = command.optsWithGlobals<{ data?: string; socket?: string }>();
  const environment = given === undefined ? process.env : { TORPOR_DATA: resolve(given) };
  const data = resolve(dataDirectory(environment));
  return { data, socket: resolve(socket ?? socketPath(environment)), lock: `${data}/torpord.lock`, log: `${data}/torpord.log` };
}

export async function withClient<T>({ socket }: Site, work: (client: TorporClient) => Promise<T>): Promise<T> {
  const client = new TorporClient({ socket });
  try {
    return await work(client);
  } finally {
    client.close();
  }
}

/** Whether a daemon answers there. One that may not be asked is an error. */
export async function answers(site: Site): Promise<boolean> {
  try {
    await withClient(site, (client) => client.health());
    return true;
  } catch (error) {
    const { code } = ((error as TorporError).cause ?? {}) as NodeJS.ErrnoException;
    if (error instanceof TorporError && (code === "ENOENT" || code === "ECONNREFUSED")) return false;
    throw error;
  }
}
