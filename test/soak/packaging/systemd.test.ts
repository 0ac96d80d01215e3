import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { testImage } from "../../system/harness/test-image.ts";
import { inRoot, Machine, makeRoot } from "./machine.ts";

const checkout = fileURLToPath(new URL("../../..", import.meta.url));

test("on a clean Debian the install script brings all, and under systemd sandboxes outlive restart, stop, kill and upgrade of torpord", async () => {
  const directory = mkdtempSync(path.join(tmpdir(), "torpor-machine-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const root = makeRoot(directory, ["systemd", "systemd-sysv", "dbus", "procps"]);
  const given = path.join(root, "root/given");
  execFileSync(path.join(checkout, "scripts/package"), [path.join(given, "packages")], { stdio: ["ignore", "ignore", "inherit"] });
  cpSync(path.join(checkout, "packaging/install.sh"), path.join(given, "install.sh"));
  // Without a systemd that runs it says how to start; the packages stay in npm's cache for the machine, which has no network.
  const install = "/root/given/install.sh --from /root/given/packages";
  expect(inRoot(root, install)).toContain("Start it with: /usr/local/bin/torpor daemon start");

  // The pool needs a real file system below it.
  const data = path.join(directory, "data");
  mkdirSync(data);
  const shown = { "/var/lib/torpor": data, "/image.tar": await testImage() };
  const machine = Machine.start(directory, root, { args: ["/sbin/init"], env: ["container=docker"], shown });
  onTestFinished(() => machine.end());
  await machine.until("systemctl is-system-running || true", /^(running|degraded)$/);
  await machine.run(install);
  await machine.run("systemd-analyze verify --man=no torpord.service");
  await machine.run("torpor image import /image.tar debian && torpor create --name lives debian && torpor create --name sleeps debian");
  const begin = "sleep 98765 >/dev/null 2>&1 & echo $!";
  const pids = [await machine.run(`torpor exec lives sh -c '${begin}'`), await machine.run(`torpor exec sleeps sh -c '${begin}'`)];
  await machine.run("torpor pause sleeps");
  const goesOn = async () => expect(await machine.run(`torpor exec lives cat /proc/${pids[0]}/cmdline`)).toBe("sleep\u000098765\u0000");

  // Started means that it listens: nothing waits between the two.
  await machine.run("systemctl restart torpord && torpor list");
  await goesOn();
  await machine.run("systemctl stop torpord");
  await expect(machine.run("torpor list")).rejects.toThrow(/is not running/);
  await machine.run("systemctl start torpord");
  await goesOn();
  await machine.run("systemctl kill --signal=KILL --kill-who=main torpord");
  await machine.run("until systemctl is-active --quiet torpord && torpor list; do sleep 0.2; done");
  await goesOn();
  await machine.run(install);
  await goesOn();
  await machine.run("torpor resume --memory require sleeps");
  expect(await machine.run(`torpor exec sleeps cat /proc/${pids[1]}/cmdline`)).toBe("sleep\u000098765\u0000");

  const settings = "mkdir -p /etc/torpor && echo TORPOR_LISTEN=nowhere >/etc/torpor/torpord.env && systemctl restart torpord";
  await expect(machine.run(settings), "wrong settings fail the start").rejects.toThrow(/control process exited with error code/);
  await machine.run("rm /etc/torpor/torpord.env && systemctl reset-failed torpord && systemctl restart torpord");
  await goesOn();
  await machine.run("torpor remove --force lives sleeps && systemctl stop torpord");
  expect(await machine.run("pgrep -f '[t]orpor-shim|[r]unsc' || true")).toBe("");
});
