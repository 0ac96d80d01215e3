import { TorporError } from "@torpor/contract";

/** Before anything is made: what no later step could do without. */
export function requireHost(platform: NodeJS.Platform = process.platform, uid: number | undefined = process.getuid?.()): void {
  if (platform !== "linux") {
    throw new TorporError("engine_unavailable", `torpord runs on Linux, and this is ${platform}`, {
      hint: "Start it on a Linux host or in a virtual machine with Linux; torpor itself works from here.",
    });
  }
  if (uid !== 0) {
    throw new TorporError("engine_unavailable", "torpord needs root: it makes mounts, network namespaces and control groups", {
      hint: "Start it with sudo.",
    });
  }
}
