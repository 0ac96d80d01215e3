import { resolve } from "node:path";
import type { BuildImageRequest, Image, ImportImageRequest, PullImageRequest } from "@torpor/sdk/calls";
import { Command, Option } from "commander";
import { action } from "../action.ts";
import { examples } from "../examples.ts";
import { say } from "../failure.ts";
import { withProgress } from "../image-progress.ts";
import { print, printJson } from "../leave.ts";
import { addListOptions, type ListOptions, printList } from "../list-output.ts";
import { readPassword } from "../read-password.ts";
import { forEach } from "../several.ts";
import { table } from "../table.ts";
import { formatSize } from "../values/size.ts";

interface Json {
  json?: boolean;
}

export function imageCommand(): Command {
  const command = new Command("image")
    .description("fetch, make, list and remove images")
    .addCommand(pull())
    .addCommand(take())
    .addCommand(build())
    .addCommand(list())
    .addCommand(remove())
    .addCommand(prune());
  return examples(command, ["torpor image pull python:3.12", "torpor image list"]);
}

function pull(): Command {
  const command = new Command("pull")
    .description("fetch an image from a registry; prints its digest")
    .argument("<reference>", "such as python:3.12 or registry:5000/x@sha256:…")
    .option("--username <name>", "for a registry that wants it; the password is read from the input")
    .option("--insecure", "allow plain HTTP or an unverified certificate")
    .option("--json", "print the image as JSON")
    .action(
      action(async (client, reference: string, options: Json & { username?: string; insecure?: boolean }) => {
        const request: PullImageRequest = {
          reference,
          ...(options.insecure === true ? { insecure: true } : {}),
          ...(options.username === undefined ? {} : { credentials: { username: options.username, password: await readPassword() } }),
        };
        return show(await withProgress((progress) => client.images.pull(request, progress)), options);
      }),
    );
  return examples(command, ["torpor image pull python:3.12", "torpor image pull --username me registry.example.org/x <password.txt"]);
}

function take(): Command {
  const command = new Command("import")
    .description("take an image from a file or directory of the daemon's host; prints its digest")
    .argument("<path>", "an OCI layout, a docker archive or a root file system tar")
    .argument("<reference>", "name to give it")
    .addOption(
      new Option("--format <format>", "what it is; default: found out by looking").choices(["oci-layout", "docker-archive", "rootfs"]),
    )
    .option("--json", "print the image as JSON")
    .action(
      action(async (client, path: string, reference: string, options: Json & { format?: NonNullable<ImportImageRequest["format"]> }) => {
        const request: ImportImageRequest = {
          path: resolve(path),
          reference,
          ...(options.format === undefined ? {} : { format: options.format }),
        };
        return show(await withProgress((progress) => client.images.import(request, progress)), options);
      }),
    );
  return examples(command, ["torpor image import ./python.tar python:3.12"]);
}

function build(): Command {
  const command = new Command("build")
    .description("make a Debian image from packages, without a registry; prints its digest")
    .argument("<reference>", "name to give it")
    .option("--suite <name>", "Debian suite; default: the host's")
    .option("--package <name...>", "package beside the base system; repeatable")
    .option("--json", "print the image as JSON")
    .action(
      action(async (client, reference: string, options: Json & { suite?: string; package?: string[] }) => {
        const request: BuildImageRequest = {
          reference,
          ...(options.suite === undefined ? {} : { suite: options.suite }),
          ...(options.package === undefined ? {} : { packages: options.package }),
        };
        return show(await withProgress((progress) => client.images.build(request, progress)), options);
      }),
    );
  return examples(command, ["torpor image build debian --package python3 --package git"]);
}

function list(): Command {
  const command = addListOptions(new Command("list").alias("ls").description("list the images on the daemon's host"), "digests").action(
    action(async (client, options: ListOptions) => {
      await printList(await client.images.list(), options, { id: ({ digest }) => digest, table: tableOf });
      return undefined;
    }),
  );
  return examples(command, ["torpor image list"]);
}

function remove(): Command {
  const command = new Command("remove")
    .alias("rm")
    .description("take a reference away, and the image with its last one")
    .argument("<reference...>", "reference or digest")
    .option("--json", "print the outcome as JSON")
    .action(
      action((client, references: string[], options: Json) => forEach(references, options, (reference) => client.images.remove(reference))),
    );
  return examples(command, ["torpor image remove python:3.12"]);
}

function prune(): Command {
  const command = new Command("prune")
    .description("remove every image that no sandbox needs")
    .option("--json", "print JSON")
    .action(
      action(async (client, options: Json) => {
        const result = await client.images.prune();
        say(`${result.removed.length} images removed, ${formatSize(result.freedBytes)} freed`);
        await (options.json === true ? printJson(result) : print(result.removed.map((digest) => `${digest}\n`).join("")));
        return undefined;
      }),
    );
  return examples(command, ["torpor image prune"]);
}

async function show(image: Image, { json }: Json): Promise<undefined> {
  await (json === true ? printJson(image) : print(`${image.digest}\n`));
  return undefined;
}

function tableOf(images: readonly Image[]): string {
  const rows = images.flatMap((image) => (image.references.length === 0 ? ["-"] : image.references).map((name) => rowOf(image, name)));
  return table(["REFERENCE", "DIGEST", "PLATFORM", "SIZE", "SOURCE"], rows);
}

function rowOf(image: Image, reference: string): string[] {
  return [reference, image.digest.slice(0, 19), image.platform, formatSize(image.storedBytes), image.source];
}
