import { TorporError } from "@torpor/contract";

/** An image's name, completed as Docker does: `python` is docker.io/library/python:latest. */
export interface Reference {
  /** Host and port of the registry. */
  readonly registry: string;
  readonly repository: string;
  readonly tag: string | null;
  readonly digest: string | null;
}

const defaultRegistry = "docker.io";
const repositoryPattern = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*$/;
const registryPattern = /^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9a-fA-F:]+\])(?::[0-9]{1,5})?$/;
const tagPattern = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;
export const digestPattern = /^sha256:[0-9a-f]{64}$/;

export function parseReference(text: string): Reference {
  const [name = "", digest, ...more] = text.split("@");
  const { registry, rest } = splitRegistry(name);
  const [path = "", tag = "latest", ...moreTags] = rest.split(":");
  const repository = registry === defaultRegistry && path !== "" && !path.includes("/") ? `library/${path}` : path;

  const wellFormed = registryPattern.test(registry) && repositoryPattern.test(repository) && tagPattern.test(tag);
  if (!wellFormed || more.length > 0 || moreTags.length > 0 || (digest !== undefined && !digestPattern.test(digest))) {
    throw new TorporError("invalid_request", `${JSON.stringify(text)} is not an image reference.`, {
      hint: "A reference looks like python:3.12, registry.example:5000/team/image:tag or name@sha256:<64 hex digits>.",
    });
  }
  // With a digest the tag says nothing more.
  return { registry, repository, tag: digest === undefined ? tag : null, digest: digest ?? null };
}

/** Docker's rule: what comes before the first slash is a registry if it could not be a part of a repository's name, or is localhost. */
function splitRegistry(name: string): { registry: string; rest: string } {
  const slash = name.indexOf("/");
  const first = slash < 0 ? "" : name.slice(0, slash);
  if (first !== "localhost" && !/[.:A-Z]/.test(first)) {
    return { registry: defaultRegistry, rest: name };
  }
  return { registry: first === "index.docker.io" ? defaultRegistry : first, rest: name.slice(slash + 1) };
}

/** The short form that people use, one for each reference. */
export function formatReference(reference: Reference): string {
  const inDefault = reference.registry === defaultRegistry;
  const repository = inDefault ? reference.repository.replace(/^library\//, "") : `${reference.registry}/${reference.repository}`;
  return reference.digest === null ? `${repository}:${reference.tag}` : `${repository}@${reference.digest}`;
}

/** Where it is fetched from: a mirror, if there is one, stands in for the default registry. */
export function resolveRegistry(reference: Reference, mirror: string | undefined): string {
  return reference.registry === defaultRegistry && mirror !== undefined ? mirror : reference.registry;
}

/** Registries on this host may speak plain HTTP: nothing goes over a wire. */
export function isLoopback(registry: string): boolean {
  return /^(localhost|127(\.[0-9]{1,3}){3}|\[::1\])(:[0-9]+)?$/.test(registry);
}
