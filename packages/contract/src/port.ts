import { z } from "zod";

/** A port on which a program in the sandbox listens. */
export const Port = z.number().int().min(1).max(65_535);

export const ExposePortRequest = z.strictObject({
  /** Whoever reaches the server may use it. Default false: a token with the scope `port` is needed, in the header X-Torpor-Token. */
  public: z.boolean().optional(),
});
export type ExposePortRequest = z.infer<typeof ExposePortRequest>;

/** A port that has a host name of its own; kept over pause, stop and restart, and not handed to forks. */
export const ExposedPort = z.object({
  port: Port,
  public: z.boolean(),
  /** First label of its host name. */
  label: z.string(),
  exposedAt: z.iso.datetime(),
});
export type ExposedPort = z.infer<typeof ExposedPort>;

/** With the address that it has at this server; null where the server listens at no address. */
export const ReachablePort = ExposedPort.extend({ url: z.string().nullable() });
export type ReachablePort = z.infer<typeof ReachablePort>;

export const PortList = z.object({ ports: z.array(ReachablePort) });
export type PortList = z.infer<typeof PortList>;

/** Ports of one sandbox with a host name. */
export const exposedLimit = 64;

/** The header that lets a caller in to a port that is not public; it is never passed on. */
export const portTokenHeader = "X-Torpor-Token";

/** The label's sandbox and port; undefined: it is no such label. */
export function readPortLabel(label: string): { readonly sandboxId: string; readonly port: number } | undefined {
  const [, port, id] = /^(\d{1,5})-([a-z2-7]{16})$/.exec(label) ?? [];
  if (port === undefined || Number(port) < 1 || Number(port) > 65_535) return undefined;
  return { sandboxId: `sb_${id}`, port: Number(port) };
}

/** Port and sandbox, as a host name may have them. */
export function portLabel(sandboxId: string, port: number): string {
  return `${port}-${sandboxId.replace(/^sb_/, "")}`;
}
