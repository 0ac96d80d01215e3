import { type Grant, grants } from "@torpor/contract/scope";
import type { CreateTokenRequest, Token } from "@torpor/sdk/calls";
import { Command, InvalidArgumentError, Option } from "commander";
import { action } from "../action.ts";
import { examples } from "../examples.ts";
import { say } from "../failure.ts";
import { print, printJson } from "../leave.ts";
import { addListOptions, type ListOptions, printList } from "../list-output.ts";
import { forEach, jsonOption, type Several } from "../several.ts";
import { table } from "../table.ts";
import { expiryIn } from "../values/duration.ts";

interface CreateOptions {
  readonly name?: string;
  readonly scope?: readonly Grant[];
  readonly team?: string;
  readonly allTeams?: boolean;
  readonly expires?: string;
  readonly json?: boolean;
}

export function tokenCommand(): Command {
  const command = new Command("token")
    .description("let programs and people use this daemon from elsewhere")
    .addCommand(create())
    .addCommand(list())
    .addCommand(revoke());
  return examples(command, ["torpor token create --name ci --scope sandbox:* --scope exec --expires 30d", "torpor token list"]);
}

function create(): Command {
  const command = new Command("create")
    .description("make a token, and print it once: only a hash of it is kept")
    .option("--name <name>", "what to call it; default a generated name")
    .option("--scope <scope>", `what it allows; repeatable; default everything (*). One of ${grants.join(", ")}`, addScope)
    .option("--team <team>", "whose sandboxes it sees; default default, or the team of who asks")
    .addOption(new Option("--all-teams", "it sees the sandboxes of all teams, and may do what concerns the host itself").conflicts("team"))
    .option("--expires <duration>", "it counts so long; default for ever", expiryIn)
    .option("--json", "print the token and its record as JSON")
    .action(
      action(async (client, options: CreateOptions) => {
        const created = await client.access.createToken(requestOf(options));
        await (options.json === true ? printJson(created) : print(`${created.secret}\n`));
        say(`made token ${created.token.name}: keep it, it is not shown again`);
        return undefined;
      }),
    );
  return examples(command, [
    "torpor token create --name laptop",
    "torpor token create --name ci --scope sandbox:* --scope exec --expires 30d",
  ]);
}

function requestOf({ name, scope, team, allTeams, expires }: CreateOptions): CreateTokenRequest {
  return {
    ...(name === undefined ? {} : { name }),
    ...(scope === undefined ? {} : { scopes: [...scope] }),
    ...(allTeams === true ? { team: null } : team === undefined ? {} : { team }),
    ...(expires === undefined ? {} : { expiresAt: expires }),
  };
}

function addScope(text: string, earlier: readonly Grant[] = []): readonly Grant[] {
  const grant = grants.find((known) => known === text);
  if (grant === undefined) throw new InvalidArgumentError(`${JSON.stringify(text)} is no scope. There are ${grants.join(", ")}.`);
  return [...earlier, grant];
}

function list(): Command {
  const command = addListOptions(new Command("list").alias("ls").description("list all tokens, expired ones too")).action(
    action(async (client, options: ListOptions) => {
      await printList(await client.access.tokens(), options, {
        id: ({ id }) => id,
        table: (all) => table(["ID", "NAME", "TEAM", "SCOPES", "CREATED", "EXPIRES"], all.map(rowOf)),
      });
      return undefined;
    }),
  );
  return examples(command, ["torpor token list"]);
}

function rowOf({ id, name, team, scopes, createdAt, expiresAt }: Token): string[] {
  const over = expiresAt !== null && Date.parse(expiresAt) <= Date.now() ? " (over)" : "";
  return [id, name, team ?? "all", scopes.join(","), createdAt, `${expiresAt ?? "never"}${over}`];
}

function revoke(): Command {
  const command = new Command("revoke")
    .alias("rm")
    .description("revoke tokens at once, sign out the browsers that they signed in, and break what they have open")
    .argument("<token...>", "ids or names")
    .option(...jsonOption)
    .action(action((client, ids: string[], options: Several) => forEach(ids, options, (id) => client.access.revokeToken(id))));
  return examples(command, ["torpor token revoke ci"]);
}
