import { TorporClient, TorporError } from "@torpor/sdk/calls";
import { Command } from "commander";
import { local, readContexts, writeContexts } from "../contexts.ts";
import { examples } from "../examples.ts";
import { say } from "../failure.ts";
import { print } from "../leave.ts";
import { readSecret } from "../read-secret.ts";

interface LoginOptions {
  readonly name?: string;
  readonly insecureHttp?: boolean;
}

export function loginCommand(): Command {
  const command = new Command("login")
    .description("use a daemon elsewhere from now on; the token is asked for, or read from the input")
    .argument("<url>", "its address: https://host or http://127.0.0.1:7867")
    .option("--name <name>", "what to call it; default its host")
    .option("--insecure-http", "send the token without encryption over a network that you trust")
    .action(async (address: string, options: LoginOptions) => {
      const url = checkUrl(address, options.insecureHttp === true);
      const name = options.name ?? url.host;
      if (name === local) throw new TorporError("invalid_name", `${local} is the daemon of this host: choose another name`);
      const token = await readSecret("token");
      const scopes = await verify(url, token);
      const { known } = readContexts(process.env);
      writeContexts(process.env, { current: name, known: { ...known, [name]: { url: url.origin, token } } });
      await print(`${name}\n`);
      say(`signed in at ${url.origin}, with ${scopes.join(", ")}; torpor context use ${local} goes back to this host's daemon`);
    });
  return examples(command, ["torpor login https://torpor.example.org", "torpor login --name build http://127.0.0.1:7867 <token.txt"]);
}

function checkUrl(address: string, insecure: boolean): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") {
    throw new TorporError("invalid_request", `${address} is no address of a daemon`, {
      hint: "it looks like https://host:port; the token is asked for",
    });
  }
  if (url.protocol === "http:" && !insecure && !/^(localhost|127\.[\d.]+|\[::1\])$/.test(url.hostname)) {
    throw new TorporError("invalid_request", `the token would go to ${url.host} without encryption`, {
      hint: "use https, or --insecure-http over a network that you trust",
    });
  }
  return url;
}

async function verify(url: URL, token: string): Promise<readonly string[]> {
  const client = new TorporClient({ url: url.origin, token });
  try {
    return (await client.access.whoami()).scopes;
  } finally {
    client.close();
  }
}
