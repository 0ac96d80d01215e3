import { TorporClient } from "@torpor/sdk/calls";
import type { Command } from "commander";
import { choose } from "./contexts.ts";

type Work<A extends unknown[]> = (client: TorporClient, ...given: A) => Promise<number | undefined>;

/** A command's action with a client of its daemon; what it gives is the exit code. */
export function action<A extends unknown[]>(work: Work<A>): (this: Command, ...given: A) => Promise<void> {
  return async function (this: Command, ...given: A) {
    const { socket } = this.optsWithGlobals<{ socket?: string }>();
    const client = new TorporClient(socket === undefined ? choose(process.env) : { socket });
    try {
      process.exitCode = (await work(client, ...given)) ?? 0;
    } finally {
      client.close();
    }
  };
}
