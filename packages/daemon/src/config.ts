import path from "node:path";
import { parseArgs } from "node:util";
import { TorporError } from "@torpor/contract";
import { defaultRetention, type Retention } from "@torpor/core";
import { type Listening, readListening } from "./listening.ts";

export interface Config {
  /** Everything durable lies in it. Default /var/lib/torpor, or TORPOR_DATA. */
  readonly dataDirectory: string;
  readonly engine: "gvisor" | "runc";
  /** Default `<data>/torpord.sock`. */
  readonly socketPath: string;
  /** host:port to which references to Docker's registry go instead. */
  readonly registryMirror: string | undefined;
  /** Resolver of sandboxes, `address` or `address:port`. Default: the host's. */
  readonly dns: string | undefined;
  /** IPv4 network of sandboxes. Default: a free /18 of 10.64.0.0/10, chosen once. */
  readonly subnet: string | undefined;
  /** Apparent size of the pool file, if one is made. Default: 80 % of what is free. */
  readonly poolSizeBytes: number | undefined;
  /** `ready` is written to this descriptor once the daemon answers. */
  readonly readyFd: number | undefined;
  readonly logLevel: string;
  /** URL of a PostgreSQL database, `postgres://…`; it may hold a password. Default: SQLite in the data directory. */
  readonly store: string | undefined;
  readonly retention: Retention;
  /** What all sandboxes together may hold. */
  readonly capacity: CapacityLimits;
  /** Where the API is served beside its socket. */
  readonly listening: Listening;
  /** Private networks that webhooks may be sent to all the same, with commas between them. */
  readonly webhookAllow: string | undefined;
}

/** undefined: the default, which `capacityOf` knows. */
export interface CapacityLimits {
  readonly memoryBytes: number | undefined;
  readonly cpus: number | undefined;
  readonly diskBytes: number | undefined;
}

const usage = `usage: torpord [--data DIR] [--engine gvisor|runc] [--socket PATH] [--registry-mirror HOST:PORT] [--dns ADDRESS[:PORT]]
               [--subnet CIDR] [--pool-size BYTES] [--ready-fd N] [--log-level LEVEL]
               [--store postgres://USER@HOST/DATABASE] [--history-days N] [--history-limit N]
               [--max-memory BYTES] [--max-cpus N] [--max-disk BYTES] [--webhook-allow NETWORK,…]
               [--listen HOST:PORT,…|auto|off] [--tls-cert FILE --tls-key FILE] [--public-url URL] [--allow-host NAME,…] [--insecure-http]`;
const dayMs = 24 * 60 * 60 * 1000;

export function readConfig(args: readonly string[], env: NodeJS.ProcessEnv): Config {
  const { "insecure-http": insecureHttp, ...values } = parse(args);
  const dataDirectory = path.resolve(values.data ?? env.TORPOR_DATA ?? "/var/lib/torpor");
  const engine = values.engine ?? env.TORPOR_ENGINE ?? "gvisor";
  if (engine !== "gvisor" && engine !== "runc") {
    throw new TorporError("invalid_request", `There is no engine ${JSON.stringify(engine)}: gvisor and runc are`, { hint: usage });
  }
  return {
    dataDirectory,
    engine,
    socketPath: path.resolve(values.socket ?? path.join(dataDirectory, "torpord.sock")),
    registryMirror: values["registry-mirror"] ?? env.TORPOR_REGISTRY_MIRROR,
    dns: values.dns ?? env.TORPOR_DNS,
    subnet: values.subnet,
    poolSizeBytes: readNumber("--pool-size", values["pool-size"]),
    readyFd: readNumber("--ready-fd", values["ready-fd"]),
    logLevel: values["log-level"] ?? env.TORPOR_LOG_LEVEL ?? "info",
    store: readStore(values.store, env.TORPOR_STORE),
    retention: readRetention(values["history-days"], values["history-limit"]),
    capacity: {
      memoryBytes: readNumber("--max-memory", values["max-memory"]),
      cpus: readNumber("--max-cpus", values["max-cpus"]),
      diskBytes: readNumber("--max-disk", values["max-disk"]),
    },
    webhookAllow: values["webhook-allow"] ?? env.TORPOR_WEBHOOK_ALLOW,
    listening: readListening({
      listen: values.listen ?? env.TORPOR_LISTEN,
      tlsCert: values["tls-cert"],
      tlsKey: values["tls-key"],
      publicUrl: values["public-url"] ?? env.TORPOR_PUBLIC_URL,
      allowHost: values["allow-host"] ?? env.TORPOR_ALLOW_HOST,
      insecureHttp: insecureHttp === true,
    }),
  };
}

function parse(args: readonly string[]) {
  const string = { type: "string" } as const;
  try {
    return parseArgs({
      args: [...args],
      options: {
        data: string,
        engine: string,
        socket: string,
        "registry-mirror": string,
        dns: string,
        subnet: string,
        "pool-size": string,
        "ready-fd": string,
        "log-level": string,
        store: string,
        "history-days": string,
        "history-limit": string,
        "max-memory": string,
        "max-cpus": string,
        "max-disk": string,
        "webhook-allow": string,
        listen: string,
        "tls-cert": string,
        "tls-key": string,
        "public-url": string,
        "allow-host": string,
        "insecure-http": { type: "boolean" },
      },
    }).values;
  } catch (error) {
    throw new TorporError("invalid_request", (error as Error).message, { hint: usage });
  }
}

/** What stands on the command line is shown to everybody by ps, so a password may come by the environment only. */
function readStore(option: string | undefined, variable: string | undefined): string | undefined {
  const given = option ?? variable;
  if (given === undefined || given === "" || given === "sqlite") {
    return undefined;
  }
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url === undefined || !["postgres:", "postgresql:"].includes(url.protocol)) {
    throw new TorporError("invalid_request", "The store is no URL of a PostgreSQL database: it looks like postgres://user@host/database", {
      hint: usage,
    });
  }
  if (option !== undefined && (url.password !== "" || url.searchParams.has("password"))) {
    throw new TorporError("invalid_request", "--store has a password in it, which everybody on this host could read", {
      hint: "Give the URL in the environment as TORPOR_STORE, or leave the password to ~/.pgpass.",
    });
  }
  return given;
}

function readRetention(days: string | undefined, limit: string | undefined): Retention {
  const maxAgeDays = readNumber("--history-days", days);
  const perSandbox = readNumber("--history-limit", limit);
  return {
    maxAgeMs: maxAgeDays === undefined ? defaultRetention.maxAgeMs : maxAgeDays * dayMs,
    perSandbox: perSandbox ?? defaultRetention.perSandbox,
  };
}

function readNumber(option: string, text: string | undefined): number | undefined {
  if (text === undefined) {
    return undefined;
  }
  if (!/^\d+$/.test(text)) {
    throw new TorporError("invalid_request", `${option} ${JSON.stringify(text)} is not a whole number`, { hint: usage });
  }
  return Number(text);
}
