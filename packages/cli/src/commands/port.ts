import { Command, InvalidArgumentError } from "commander";
import { action } from "../action.ts";
import { examples } from "../examples.ts";
import { say } from "../failure.ts";
import { type Forwarding, forwardPort } from "../forward-port.ts";
import { print } from "../leave.ts";
import { addListOptions, type ListOptions, printList } from "../list-output.ts";
import { forEach, jsonOption, type Several } from "../several.ts";
import { table } from "../table.ts";

export function portCommand(): Command {
  const command = new Command("port")
    .description("reach what listens in a sandbox, whatever network it has")
    .addCommand(forwardCommand())
    .addCommand(exposeCommand())
    .addCommand(listCommand())
    .addCommand(removeCommand());
  return examples(command, ["torpor port forward base 8080", "torpor port expose base 8080"]);
}

function forwardCommand(): Command {
  const command = new Command("forward")
    .description("forward ports of this machine to ports in a sandbox, until it is interrupted; goes on over pause and resume")
    .argument("<sandbox>", "id or name")
    .argument("<[local:]port...>", "port in the sandbox, and of this machine if that is another; 0 takes any free one", parsePair)
    .option("--address <address>", "address of this machine to listen on", "127.0.0.1")
    .action(
      action(async (client, sandbox: string, pairs: Forwarding[], { address }: { address: string }) => {
        await client.get(sandbox);
        const forwards = await Promise.all(pairs.map((pair) => forwardPort(client, { sandbox, address, ...pair })));
        for (const [index, { local }] of forwards.entries()) await print(`${address}:${local} -> ${sandbox}:${pairs[index]?.port}\n`);
        await interrupted();
        for (const forward of forwards) forward.close();
        return undefined;
      }),
    );
  return examples(command, ["torpor port forward base 8080", "torpor port forward base 3000:80 5432"]);
}

function exposeCommand(): Command {
  const command = new Command("expose")
    .description("give ports of a sandbox an address, which stays over pause, stop and restart")
    .argument("<sandbox>", "id or name")
    .argument("<port...>", "on which a program listens in it", parsePorts)
    .option("--public", "whoever reaches the server may use it; otherwise a token with the scope port is needed (X-Torpor-Token)")
    .option(...jsonOption)
    .action(
      action(async (client, sandbox: string, ports: number[], options: Several & { public?: true }) => {
        let listens = true;
        const expose = async (port: string) => {
          const exposed = await client.ports.expose(sandbox, Number(port), { public: options.public === true });
          listens &&= exposed.url !== null;
          return exposed;
        };
        const code = await forEach(ports.map(String), options, expose, ({ url, label }) => url ?? label);
        if (!listens) say("the server listens at no address: start it with torpor daemon start --listen");
        return code;
      }),
    );
  return examples(command, ["torpor port expose base 8080", "torpor port expose --public base 3000"]);
}

function listCommand(): Command {
  const list = new Command("list").description("list the ports of a sandbox that have an address").argument("<sandbox>", "id or name");
  const command = addListOptions(list, "port numbers").action(
    action(async (client, sandbox: string, options: ListOptions) => {
      await printList(await client.ports.list(sandbox), options, {
        id: ({ port }) => String(port),
        table: (all) =>
          table(
            ["PORT", "FOR", "ADDRESS"],
            all.map(({ port, url, label, ...exposed }) => [String(port), exposed.public ? "public" : "token", url ?? label]),
          ),
      });
      return undefined;
    }),
  );
  return examples(command, ["torpor port list base"]);
}

function removeCommand(): Command {
  const command = new Command("remove")
    .description("take the address of ports away")
    .argument("<sandbox>", "id or name")
    .argument("<port...>", "as torpor port list has them", parsePorts)
    .option(...jsonOption)
    .action(
      action((client, sandbox: string, ports: number[], options: Several) =>
        forEach(ports.map(String), options, async (port) => {
          await client.ports.unexpose(sandbox, Number(port));
          return { port: Number(port) };
        }),
      ),
    );
  return examples(command, ["torpor port remove base 8080"]);
}

function interrupted(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => resolve());
  });
}

/** LOCAL:PORT, or a port for both. */
function parsePair(text: string, before: Forwarding[] = []): Forwarding[] {
  const [, local, port] = /^(?:(\d{1,5}):)?(\d{1,5})$/.exec(text) ?? [];
  if (port === undefined) throw new InvalidArgumentError(`${JSON.stringify(text)} is no port: it looks like 8080 or 3000:80.`);
  return [...before, { local: local === undefined ? parsePort(port) : portFrom(local, 0), port: parsePort(port) }];
}

function parsePorts(text: string, before: number[] = []): number[] {
  return [...before, parsePort(text)];
}

function parsePort(text: string): number {
  return portFrom(text, 1);
}

function portFrom(text: string, least: number): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port >= least && port <= 65_535) return port;
  throw new InvalidArgumentError(`${JSON.stringify(text)} is no port: a whole number from ${least} to 65535 is needed.`);
}
