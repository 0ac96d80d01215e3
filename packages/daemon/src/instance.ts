import { randomBytes } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { TorporError } from "@torpor/contract";
import { z } from "zod";
import { interfacePrefix } from "./network/rules.ts";
import { chooseSubnet, foreignRoutes, formatSubnet, parseSubnet } from "./network/subnet.ts";

/** What tells the host resources of this data directory from those of others; made once. */
const Instance = z.object({ instance: z.string().regex(/^[0-9a-f]{8}$/), subnet: z.string() });
export type Instance = z.infer<typeof Instance>;

export async function openInstance(dataDirectory: string, subnet: string | undefined): Promise<Instance> {
  const file = path.join(dataDirectory, "instance.json");
  const known = await readInstance(file);
  const instance = known?.instance ?? randomBytes(4).toString("hex");
  const chosen = subnet ?? known?.subnet ?? formatSubnet(await chooseSubnet(Number.parseInt(instance.slice(0, 4), 16)));
  const others = await foreignRoutes(parseSubnet(chosen), interfacePrefix(instance));
  if (others.length > 0) {
    throw new TorporError("engine_unavailable", `The sandboxes' network ${chosen} is routed elsewhere on this host: ${others.join(", ")}`, {
      hint: "Take that route away, or start torpord with another --subnet (then the sandboxes' addresses change).",
    });
  }
  const current = { instance, subnet: chosen };
  if (known?.subnet !== chosen) {
    await writeFile(`${file}.new`, JSON.stringify(current), { mode: 0o600 });
    await rename(`${file}.new`, file);
  }
  return current;
}

async function readInstance(file: string): Promise<Instance | undefined> {
  const text = await readFile(file, "utf8").catch(() => undefined);
  if (text === undefined) {
    return undefined;
  }
  try {
    return Instance.parse(JSON.parse(text));
  } catch (cause) {
    throw new TorporError("storage_failed", `${file} can't be read: it was changed by hand or is damaged`, {
      hint: "Restore it from a backup: sandboxes that run are found by it.",
      cause,
    });
  }
}
