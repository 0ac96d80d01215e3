import { access, constants } from "node:fs/promises";
import path from "node:path";

/** Debian's package of each host program that bears another name. */
const packages: Readonly<Record<string, string>> = {
  "mkfs.xfs": "xfsprogs",
  "mkfs.ext4": "e2fsprogs",
  losetup: "mount",
  mount: "mount",
  umount: "mount",
  fstrim: "util-linux",
  cp: "coreutils",
  xz: "xz-utils",
};

export function packageOf(program: string): string {
  return packages[program] ?? program;
}

/** Whether a program can be started by its name. */
export async function hasProgram(program: string): Promise<boolean> {
  for (const directory of (process.env.PATH ?? "/usr/sbin:/usr/bin:/sbin:/bin").split(path.delimiter)) {
    try {
      await access(path.join(directory, program), constants.X_OK);
      return true;
    } catch {
      // Not in this one.
    }
  }
  return false;
}
