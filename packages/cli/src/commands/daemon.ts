import { Command, Option } from "commander";
import { endDaemon, findDaemon, removeData } from "../daemon/end.ts";
import { launchDaemon, runDaemon } from "../daemon/launch.ts";
import { answers, type Site, siteOf, withClient } from "../daemon/site.ts";
import { examples } from "../examples.ts";
import { say } from "../failure.ts";
import { print, printJson } from "../leave.ts";
import { reachable } from "../page-link.ts";
import { parseSize } from "../values/size.ts";

export function daemonCommand(): Command {
  const command = new Command("daemon")
    .description("start, stop and look at torpord, which runs the sandboxes of this host")
    .addCommand(start())
    .addCommand(status())
    .addCommand(stop());
  return examples(command, ["torpor daemon start", "torpor daemon stop"]);
}

function start(): Command {
  const command = withData(new Command("start"))
    .description("start torpord in the background and wait until it answers; one that runs already is fine")
    .option("--detach", "in the background, which is the default")
    .option("--foreground", "run it here until it ends")
    .addOption(new Option("--engine <name>", "what runs sandboxes; default gvisor").choices(["gvisor", "runc"]))
    .option("--registry-mirror <host:port>", "registry to ask in place of Docker's")
    .option("--dns <address>", "resolver of sandboxes; default the host's")
    .option("--subnet <cidr>", "IPv4 network of sandboxes; default a free one, chosen once")
    .option("--pool-size <size>", "size of the pool file, if one is made", parseSize)
    .option("--store <url>", "PostgreSQL database in place of SQLite: postgres://user@host/database; with a password only as $TORPOR_STORE")
    .option("--history-days <n>", "keep finished operations and events so long; default 7")
    .option("--history-limit <n>", "and at most so many for a sandbox; default 1000")
    .option("--webhook-allow <networks>", "private networks that webhooks may be sent to, as 10.0.0.0/8,192.168.1.7; default none")
    .option(
      "--listen <addresses>",
      "serve the API and the page there too: HOST:PORT with commas between them, auto or off; default auto, 127.0.0.1:7867 or the next free port",
    )
    .option("--tls-cert <file>", "certificates for https, PEM")
    .option("--tls-key <file>", "their key, PEM")
    .option("--public-url <url>", "the address that the world knows, of a proxy in front: https://torpor.example.org")
    .option("--allow-host <names>", "more names by which it may be called, with commas between them")
    .option("--insecure-http", "listen beyond this host without encryption, over a network that you trust")
    .addOption(new Option("--log-level <level>", "how much the log has; default info").choices(["trace", "debug", "info", "warn", "error"]))
    .action(async function (this: Command, options: Record<string, string | number | boolean | undefined>) {
      const site = siteOf(this);
      if (await answers(site)) {
        say(`torpord runs already, on ${site.socket}`);
        return;
      }
      if (options.foreground === true) {
        process.exitCode = await runDaemon(site, argumentsOf(options));
        return;
      }
      const pid = await launchDaemon(site, argumentsOf(options));
      say(`torpord (pid ${pid}) listens on ${site.socket}; its log is ${site.log}`);
      const { addresses } = (await withClient(site, (client) => client.info())).listening;
      for (const address of addresses) say(`its page is at ${reachable(address)}: torpor open prints a link that signs you in`);
    });
  return examples(command, ["torpor daemon start", "torpor daemon start --data /srv/torpor --engine gvisor"]);
}

function status(): Command {
  const command = withData(new Command("status"))
    .description("tell whether torpord runs; exit code 1 if not")
    .option("--json", "print JSON")
    .action(async function (this: Command, { json }: { json?: boolean }) {
      const site = siteOf(this);
      const running = await answers(site);
      process.exitCode = running ? 0 : 1;
      const facts = running ? await factsOf(site) : { running };
      if (json === true) await printJson(facts);
      else
        await print(
          Object.entries(facts)
            .map(([name, value]) => `${name}: ${value}\n`)
            .join(""),
        );
    });
  return examples(command, ["torpor daemon status"]);
}

function stop(): Command {
  const command = withData(new Command("stop"))
    .description("end torpord; sandboxes that run go on and are found again by the next one")
    .option("--remove-data", "remove all sandboxes first, and then everything that torpord made")
    .action(async function (this: Command, { removeData: removing }: { removeData?: boolean }) {
      const site = siteOf(this);
      if (removing === true) await removeSandboxes(site);
      const pid = await findDaemon(site);
      if (pid === undefined) say("torpord is not running");
      else {
        await endDaemon(site, pid);
        say("torpord has ended");
      }
      if (removing !== true) return;
      await removeData(site);
      say(`removed ${site.data}`);
    });
  return examples(command, ["torpor daemon stop", "torpor daemon stop --remove-data"]);
}

function withData(command: Command): Command {
  return command.option("--data <directory>", "its data directory; default $TORPOR_DATA, else /var/lib/torpor");
}

/** torpord's own options have the same names. */
function argumentsOf(options: Record<string, string | number | boolean | undefined>): string[] {
  const names = {
    engine: "--engine",
    registryMirror: "--registry-mirror",
    dns: "--dns",
    subnet: "--subnet",
    poolSize: "--pool-size",
    logLevel: "--log-level",
    store: "--store",
    historyDays: "--history-days",
    historyLimit: "--history-limit",
    webhookAllow: "--webhook-allow",
    tlsCert: "--tls-cert",
    tlsKey: "--tls-key",
    publicUrl: "--public-url",
    allowHost: "--allow-host",
  };
  const given = Object.entries(names).flatMap(([key, name]) => (options[key] === undefined ? [] : [name, String(options[key])]));
  const listen = options.listen ?? (process.env.TORPOR_LISTEN || "auto");
  return [...given, "--listen", String(listen), ...(options.insecureHttp === true ? ["--insecure-http"] : [])];
}

async function factsOf(site: Site): Promise<Record<string, unknown>> {
  return withClient(site, async (client) => {
    const [info, sandboxes, pid] = await Promise.all([client.info(), client.list(), findDaemon(site)]);
    return {
      running: true,
      pid: pid ?? null,
      socket: site.socket,
      addresses: info.listening.addresses.join(", "),
      data: info.dataDirectory,
      version: info.version,
      engine: `${info.engine.name} ${info.engine.version}`,
      sandboxes: sandboxes.length,
    };
  });
}

async function removeSandboxes(site: Site): Promise<void> {
  if (!(await answers(site))) return;
  await withClient(site, async (client) => {
    for (const { id, name } of await client.list()) {
      await client.remove(id, { force: true });
      say(`removed sandbox ${name}`);
    }
  });
}
