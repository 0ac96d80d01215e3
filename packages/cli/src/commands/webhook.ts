import type { CreateWebhookRequest, Delivery, DeliveryStatus, TorporClient, Webhook } from "@torpor/sdk/calls";
import { Command, Option } from "commander";
import { action } from "../action.ts";
import { examples } from "../examples.ts";
import { say } from "../failure.ts";
import { print, printJson } from "../leave.ts";
import { addListOptions, type ListOptions, printList } from "../list-output.ts";
import { readPassword } from "../read-password.ts";
import { forEach, jsonOption, type Several } from "../several.ts";
import { table } from "../table.ts";
import { parseCount } from "../values/count.ts";
import { addText } from "../values/list.ts";
import { addLabel } from "../values/pair.ts";

interface Json {
  json?: boolean;
}

interface CreateOptions extends Json {
  type?: readonly string[];
  sandbox?: string;
  label?: Readonly<Record<string, string>>;
  description?: string;
  secretStdin?: boolean;
}

export function webhookCommand(): Command {
  const command = new Command("webhook")
    .description("send what happens to sandboxes to an address, signed")
    .addCommand(create())
    .addCommand(list())
    .addCommand(inspect())
    .addCommand(deliveries())
    .addCommand(test())
    .addCommand(
      change("pause", "send nothing for the time being; what happens meanwhile is kept for it", (client, id) => client.webhooks.pause(id)),
    )
    .addCommand(
      change("enable", "send again, what was kept first; what waits for its next attempt is sent at once", (client, id) =>
        client.webhooks.enable(id),
      ),
    )
    .addCommand(
      change("remove", "remove webhooks, and what they have not delivered", (client, id) => client.webhooks.remove(id)).alias("rm"),
    );
  return examples(command, ["torpor webhook create --type sandbox.paused https://example.org/hook", "torpor webhook list"]);
}

function create(): Command {
  const command = new Command("create")
    .description("send events from now on; prints the id, and once the secret that they are signed with")
    .argument("<url>", "where to, by POST; in a private network only if the daemon allows it (daemon start --webhook-allow)")
    .option("--type <type>", "only events of this type, such as sandbox.paused or sandbox.*; repeatable", addText)
    .option("--sandbox <sandbox>", "only of this sandbox")
    .option("--label <name=value>", "only of sandboxes that have this label when it happens; repeatable", addLabel)
    .option("--description <text>", "what it is for")
    .option("--secret-stdin", "read the secret from the input (whsec_ and base64) instead of making one")
    .option("--json", "print webhook and secret as JSON")
    .action(
      action(async (client, url: string, options: CreateOptions) => {
        const created = await client.webhooks.create(await requestOf(url, options));
        if (options.json === true) await printJson(created);
        else await print(`${created.webhook.id}\n${options.secretStdin === true ? "" : `${created.secret}\n`}`);
        if (options.secretStdin !== true) say("keep the secret: it is not shown again");
        return undefined;
      }),
    );
  return examples(command, [
    "torpor webhook create https://example.org/hook",
    "torpor webhook create --type sandbox.* --label team=a https://example.org/hook",
    "torpor webhook create --secret-stdin https://example.org/hook <secret.txt",
  ]);
}

async function requestOf(url: string, { type, sandbox, label, description, secretStdin }: CreateOptions): Promise<CreateWebhookRequest> {
  return {
    url,
    ...(type === undefined ? {} : { types: [...type] }),
    ...(sandbox === undefined ? {} : { sandbox }),
    ...(label === undefined ? {} : { labels: { ...label } }),
    ...(description === undefined ? {} : { description }),
    ...(secretStdin === true ? { secret: await readPassword("secret") } : {}),
  };
}

function list(): Command {
  const command = addListOptions(new Command("list").alias("ls").description("list all webhooks")).action(
    action(async (client, options: ListOptions) => {
      await printList(await client.webhooks.list(), options, {
        id: ({ id }) => id,
        table: (all) => table(["ID", "STATE", "URL", "TYPES", "PENDING", "DEAD"], all.map(rowOf)),
      });
      return undefined;
    }),
  );
  return examples(command, ["torpor webhook list"]);
}

function rowOf({ id, state, url, types, pending, dead }: Webhook): string[] {
  return [id, state, url, types.join(","), String(pending), String(dead)];
}

function inspect(): Command {
  const command = new Command("inspect")
    .description("print a webhook as JSON")
    .argument("<webhook>", "its id")
    .option("--json", "as it does anyway")
    .action(
      action(async (client, id: string) => {
        await printJson(await client.webhooks.get(id));
        return undefined;
      }),
    );
  return examples(command, ["torpor webhook inspect wh_abcdefghijklmnop"]);
}

function deliveries(): Command {
  const command = addListOptions(
    new Command("deliveries")
      .description("list what a webhook has to deliver, delivered, or gave up; newest first")
      .argument("<webhook>", "its id"),
  )
    .addOption(new Option("--status <status>", "only these").choices(["pending", "delivered", "dead"] satisfies DeliveryStatus[]))
    .option("--limit <number>", "at most so many; default 100", parseCount)
    .action(
      action(async (client, id: string, { status, limit, ...options }: ListOptions & { status?: DeliveryStatus; limit?: number }) => {
        const filter = { ...(status === undefined ? {} : { status }), ...(limit === undefined ? {} : { limit }) };
        await printList(await client.webhooks.deliveries(id, filter), options, {
          id: (delivery) => delivery.id,
          table: (all) => table(["ID", "SANDBOX", "TYPE", "STATUS", "ATTEMPTS", "NEXT", "LAST ERROR"], all.map(deliveryRow)),
        });
        return undefined;
      }),
    );
  return examples(command, ["torpor webhook deliveries --status dead wh_abcdefghijklmnop"]);
}

function deliveryRow({ id, sandboxId, type, status, attempts, nextAt, lastError }: Delivery): string[] {
  return [id, sandboxId, type, status, String(attempts), nextAt ?? "-", lastError ?? "-"];
}

function test(): Command {
  const command = new Command("test")
    .description("send one message now, once; exit code 1 if it did not arrive")
    .argument("<webhook>", "its id")
    .option("--json", "print the outcome as JSON")
    .action(
      action(async (client, id: string, { json }: Json) => {
        const outcome = await client.webhooks.test(id);
        if (json === true) await printJson(outcome);
        say(outcome.delivered ? `delivered in ${outcome.durationMs} ms` : `torpor: not delivered: ${outcome.error}`);
        return outcome.delivered ? 0 : 1;
      }),
    );
  return examples(command, ["torpor webhook test wh_abcdefghijklmnop"]);
}

function change(name: string, description: string, work: (client: TorporClient, id: string) => Promise<unknown>): Command {
  const command = new Command(name)
    .description(description)
    .argument("<webhook...>", "ids")
    .option(...jsonOption)
    .action(action((client, ids: string[], options: Several) => forEach(ids, options, (id) => work(client, id))));
  return examples(command, [`torpor webhook ${name} wh_abcdefghijklmnop`]);
}
