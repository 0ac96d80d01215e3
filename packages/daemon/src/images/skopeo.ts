import { writeFile } from "node:fs/promises";
import path from "node:path";
import { TorporError } from "@torpor/contract";
import type { Progress } from "@torpor/core";
import { CommandError, run } from "../host/spawn.ts";
import { storageFailure } from "../pool/storage-failure.ts";
import { nodePlatform } from "./layout.ts";
import type { Workspace } from "./workspace.ts";

export interface SkopeoSource {
  /** As containers-transports(5) has it: `docker://…`, `oci:…`, … */
  readonly image: string;
  readonly credentials?: { readonly registry: string; readonly username: string; readonly password: string } | undefined;
  readonly insecure?: boolean;
  /** In messages, for the image. */
  readonly name: string;
}

export const layoutTag = "image";

/** Copies an image, for this node's platform and with every blob's digest verified, into an OCI layout of its own. */
export async function copyToLayout(space: Workspace, source: SkopeoSource, progress: Progress): Promise<string> {
  const layout = path.join(space.path, "layout");
  const options = await globalOptions(space);
  // Not --dest-oci-accept-uncompressed-layers, though it would save time: skopeo 1.9 then calls a plain layer of a docker archive gzip.
  const flags = ["--remove-signatures", ...(await sourceOptions(space, source, "src-"))];
  await skopeo(source, [...options, "copy", ...flags, source.image, `oci:${layout}:${layoutTag}`], space.signal, (line) =>
    progress({ step: "copy", text: line }),
  );
  return layout;
}

/** The manifest or index as the source has it, byte for byte: its digest is the image's at the source. */
export async function inspectRaw(space: Workspace, source: SkopeoSource): Promise<string> {
  const options = await globalOptions(space);
  return await skopeo(source, [...options, "inspect", "--raw", ...(await sourceOptions(space, source, "")), source.image], space.signal);
}

/** The policy is given since not every host has one; who signed an image is no concern yet. */
async function globalOptions(space: Workspace): Promise<string[]> {
  const policy = path.join(space.path, "policy.json");
  await writeFile(policy, JSON.stringify({ default: [{ type: "insecureAcceptAnything" }] }));
  const [os = "", architecture = ""] = nodePlatform.split("/");
  return ["--policy", policy, "--tmpdir", space.path, "--override-os", os, "--override-arch", architecture];
}

async function sourceOptions(space: Workspace, source: SkopeoSource, prefix: "src-" | ""): Promise<string[]> {
  // Always a file of our own: credentials never come into argv, and those that root keeps on this host are not ours to use.
  const authFile = path.join(space.path, "auth.json");
  await writeFile(authFile, JSON.stringify({ auths: authOf(source.credentials) }), { mode: 0o600 });
  return [
    `--${prefix === "" ? "authfile" : "src-authfile"}=${authFile}`,
    ...(source.insecure === true ? [`--${prefix}tls-verify=false`] : []),
  ];
}

function authOf(credentials: SkopeoSource["credentials"]): Record<string, { auth: string }> {
  if (credentials === undefined) {
    return {};
  }
  const { registry, username, password } = credentials;
  return { [registry]: { auth: Buffer.from(`${username}:${password}`).toString("base64") } };
}

async function skopeo(source: SkopeoSource, args: string[], signal: AbortSignal, onLine?: (line: string) => void): Promise<string> {
  try {
    return (await run("skopeo", args, { signal, onLine })).stdout;
  } catch (cause) {
    throw cause instanceof CommandError && cause.ending === "exit" ? skopeoFailure(source, cause) : cause;
  }
}

/** skopeo says what went wrong in words only. The order matters: "does not match" also stands in messages about names. */
const failures: readonly {
  readonly words: RegExp;
  readonly code: "image_invalid" | "image_digest_mismatch" | "image_not_found";
  readonly says: string;
}[] = [
  { words: /no image found in (manifest list|image index)/i, code: "image_invalid", says: `is not made for ${nodePlatform}` },
  {
    words:
      /digest did not match|digest mismatch|does(n't| not) match (expected|provided)|invalid checksum|verifying .* digest|unexpected EOF/i,
    code: "image_digest_mismatch",
    says: "has content that is not what its digest says",
  },
  {
    words: /manifest unknown|name unknown|repository name not known|not found: manifest|requested access to the resource is denied/i,
    code: "image_not_found",
    says: "is not at its registry",
  },
];

export function skopeoFailure(source: SkopeoSource, cause: CommandError): TorporError {
  const words = lastMessage(cause.stderr);
  if (words.includes("no space left on device")) {
    return storageFailure(`Image ${source.name} could not be copied`, new Error("No space left on device"));
  }
  const known = failures.find((failure) => failure.words.test(words));
  if (known !== undefined) {
    return new TorporError(known.code, `Image ${source.name} ${known.says}: ${words}`, { cause });
  }
  if (!source.image.startsWith("docker://")) {
    return new TorporError("image_invalid", `Image ${source.name} can't be read: ${words}`, { cause });
  }
  const unauthorized = /unauthorized|authentication required|status code (from registry )?401/i.test(words);
  return new TorporError(
    "registry_failed",
    `The registry of ${source.name} ${unauthorized ? "wants other credentials" : "failed"}: ${words}`,
    {
      hint: unauthorized
        ? "Give a username and a password that the registry knows."
        : "Check the reference and whether this host reaches the registry.",
      cause,
    },
  );
}

/** `time="…" level=fatal msg="…"` */
function lastMessage(stderr: string): string {
  const line = stderr.trim().split("\n").at(-1) ?? "";
  const quoted = /msg="((?:[^"\\]|\\.)*)"/.exec(line)?.[1];
  return (quoted ?? line).replaceAll('\\"', '"').slice(0, 1_000);
}
