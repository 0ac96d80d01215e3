import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const text = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");

test("the install script and the Dockerfile bring all programs that bootstrap brings for the daemon", () => {
  const list = /host_programs\(\) \{\n {2}cat <<'LIST'\n([\s\S]*?)LIST/.exec(text("scripts/lib/packages.sh"))?.[1] ?? "";
  const wanted = [...list.matchAll(/^\S+ +(\S+)/gm)].map(([, name]) => name);
  expect(wanted).toContain("xfsprogs");
  const script = /^packages='(.*)'$/m.exec(text("packaging/install.sh"))?.[1]?.split(" ") ?? [];
  const image = /apt-get install -y --no-install-recommends (.*?) \\/.exec(text("packaging/Dockerfile"))?.[1]?.split(" ") ?? [];
  expect(script.toSorted()).toEqual(wanted.toSorted());
  expect(image).toEqual(expect.arrayContaining(wanted));
});

test("systemd ends torpord alone, with what the command line starts it with", async () => {
  const unit = text("packaging/torpord.service");
  expect(unit).toMatch(/^KillMode=process$/m);
  expect(unit).toMatch(/^Delegate=yes$/m);
  const { daemonEnvironment, daemonFlags } = await import("../../packages/cli/src/daemon/launch.ts");
  const settings = [
    `NODE_OPTIONS=${daemonFlags.join(" ")}`,
    ...Object.entries(daemonEnvironment).map(([name, value]) => `${name}=${value}`),
  ];
  for (const file of ["packaging/torpord.service", "packaging/Dockerfile"])
    for (const setting of settings) expect(text(file), file).toContain(setting);
});
