#!/usr/bin/env python3
"""The floor of the benchmarks: what runsc, mounts and a network namespace cost by hand, with nothing of Torpor.

Reads one JSON object a line, {"call": name, ...}, and answers each with one: {"result": ...} or {"error": text}. Times are
milliseconds of wall clock. A process of its own, small and a subreaper: a start from a large process would make the floor higher,
and `runsc delete` waits until a killed sentry is reaped, which a slow PID 1 may take seconds to do.
"""
import ctypes, glob, json, os, pty, shutil, subprocess, sys, time

FLAGS = ["--platform=systrap", "--overlay2=none", "--network=sandbox", "--allow-suid", "--ignore-cgroups"]
CAPABILITIES = ["CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_SETUID", "CAP_SETGID", "CAP_KILL"]
# Holds memory that can't be compressed or merged, and counts, so that "it goes on" can be seen.
HOLD = """
import os, sys, time
mib = int(sys.argv[1]); held = bytearray(mib << 20)
for at in range(0, len(held), 1 << 20): held[at:at + (1 << 20)] = os.urandom(1 << 20)
n = 0
while True:
    n += 1; print(n, flush=True); time.sleep(0.05)
"""


def sh(*argv, **options):
    options.setdefault("stdin", subprocess.DEVNULL); options.setdefault("stdout", subprocess.DEVNULL); options.setdefault("stderr", subprocess.PIPE)
    done = subprocess.run(argv, **options)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, argv))}: exit {done.returncode}: {(done.stderr or b'').decode(errors='replace')[-400:]}")


class Steps(dict):
    """Times of steps, in order; `total` is the sum of those that were asked for."""

    def run(self, name, call, *args):
        start = time.perf_counter(); result = call(*args)
        self[name] = (time.perf_counter() - start) * 1e3
        return result


class Floor:
    def open(self, dir, runsc, rootfs):
        self.dir, self.runsc, self.pool, self.serial, self.boxes = dir, runsc, f"{dir}/pool", 0, {}
        os.makedirs(self.pool)
        sh("truncate", "-s", "40G", f"{dir}/pool.img"); sh("mkfs.xfs", "-q", "-f", "-m", "reflink=1", f"{dir}/pool.img")
        sh("mount", "-o", "loop", f"{dir}/pool.img", self.pool)
        self._once_in_memory(self.pool)
        self.lower = f"{self.pool}/image"; os.makedirs(self.lower)
        sh("tar", "-xf", rootfs, "-C", self.lower)
        open(f"{self.lower}/hold.py", "w").write(HOLD)
        sh("truncate", "-s", "10G", f"{self.pool}/empty.ext4"); sh("mkfs.ext4", "-q", "-E", "lazy_itable_init=1", f"{self.pool}/empty.ext4")

    # what users of the floor call ------------------------------------------------------------------------------------
    def create(self, name, mib=0):
        """reflink + mount + network + run + exec"""
        steps = Steps()
        steps.run("reflink", self._clone, "empty", name)
        box = self._up(name, mib, steps)
        steps.run("run", self._run, box); steps.run("exec", self._exec, box)
        self._wait_count(box, 0)
        return steps

    def fill(self, name, mib):
        """A file of random bytes on the box's disk, from outside: the box's own view does not matter here."""
        with open(f"{self.boxes[name]['top']}/disk/upper/fill", "wb") as file:
            for _ in range(mib):
                file.write(os.urandom(1 << 20))
            os.fsync(file.fileno())

    def exec(self, name):
        steps = Steps(); steps.run("exec", self._exec, self.boxes[name]); return steps

    def echo(self, count):
        """keys through a terminal of the host, each until its echo: times in ms"""
        master, slave = pty.openpty(); child = subprocess.Popen(["cat"], stdin=slave, stdout=slave)
        times = []
        for _ in range(count):
            start = time.perf_counter(); os.write(master, b"x"); os.read(master, 16)
            times.append((time.perf_counter() - start) * 1e3)
        child.kill(); child.wait(); os.close(master); os.close(slave)
        return times

    def output(self, name, command):
        """all that a command writes, through `runsc exec`: ms"""
        box = self.boxes[name]; start = time.perf_counter()
        command = [self.runsc, f"--root={box['top']}/state", f"--shared-root={self.dir}/shared", *FLAGS, "exec", "floor", "sh", "-c", command]
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as child:
            while child.stdout.read(1 << 18): pass
        return (time.perf_counter() - start) * 1e3

    def pause(self, name, fsync=False):
        """pause + checkpoint + delete + umount, and the network's end aside"""
        box, steps = self.boxes[name], Steps()
        box["count"] = self._count(box)
        shutil.rmtree(f"{box['top']}/image", ignore_errors=True)
        steps.run("pause", self._engine, box, "pause", "floor")
        steps.run("checkpoint", self._checkpoint, box, f"{box['top']}/image")
        if fsync:
            steps.run("fsync", self._fsync, f"{box['top']}/image")
        steps.run("delete", self._engine, box, "delete", "--force", "floor")
        steps.run("umount", self._umount, box)
        steps.run("network down", sh, "ip", "netns", "del", box["ns"])
        return steps

    def warm(self, paths):
        """what was written is on the disk and in nobody's way, and these files are in the page cache"""
        for place in (self.pool, self.dir):
            sh("sync", "-f", place)
        for path in paths:
            sh("cat", path)
        return {}

    def image(self, name):
        return glob.glob(f"{self.boxes[name]['top']}/image/*")

    def resume(self, name, mib=0, background=True):
        """network + mount + restore + exec"""
        steps, before = Steps(), self.boxes[name]["count"]
        box = self._up(name, mib, steps)
        steps.run("restore", self._restore, box, f"{box['top']}/image", background); steps.run("exec", self._exec, box)
        self._wait_count(box, before)
        return steps

    def fork(self, name, child, mib=0):
        """pause + checkpoint + reflink + thaw, then mount + network + restore + exec of the child"""
        box, steps = self.boxes[name], Steps()
        image = f"{self.pool}/{child}-image"
        steps.run("pause", self._engine, box, "pause", "floor")
        steps.run("checkpoint", self._checkpoint, box, image)
        steps.run("reflink", self._clone, name, child)
        steps.run("thaw", self._engine, box, "resume", "floor")
        kid = self._up(child, mib, steps)
        steps.run("restore", self._restore, kid, image, True); steps.run("exec", self._exec, kid)
        return steps

    def stored(self, name):
        return sum(entry.stat().st_blocks * 512 for entry in os.scandir(f"{self.boxes[name]['top']}/image"))

    def memory(self, name):
        """PSS of sentry and gofer, in bytes."""
        mark = f"--root={self.boxes[name]['top']}/state".encode()
        total = 0
        for file in glob.glob("/proc/[0-9]*/cmdline"):
            try:
                argv = open(file, "rb").read().split(b"\0")
                if mark in argv and argv[0] in (b"runsc-sandbox", b"runsc-gofer"):
                    rollup = open(f"{os.path.dirname(file)}/smaps_rollup").read()
                    total += next(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:")) * 1024
            except OSError:
                pass
        return total

    def remove(self, name):
        box = self.boxes.pop(name)
        self._engine(box, "delete", "--force", "floor"); self._umount(box); sh("ip", "netns", "del", box["ns"])
        shutil.rmtree(box["top"], ignore_errors=True); shutil.rmtree(f"{self.pool}/{name}-image", ignore_errors=True); os.unlink(f"{self.pool}/{name}.ext4")

    def close(self):
        for name in list(self.boxes):
            try: self.remove(name)
            except Exception as error: print(error, file=sys.stderr)
        for line in reversed(open("/proc/mounts").read().splitlines()):
            if line.split()[1].startswith(f"{self.dir}/"):
                subprocess.run(["umount", "-l", line.split()[1]])
        shutil.rmtree(self.dir, ignore_errors=True)

    @staticmethod
    def _once_in_memory(place):
        """else the page cache holds what is on it twice, and a machine half as much of it"""
        device = subprocess.run(["findmnt", "-no", "SOURCE", place], capture_output=True, text=True, check=True).stdout.strip()
        subprocess.run(["losetup", "--direct-io=on", device], stderr=subprocess.DEVNULL)

    # steps -----------------------------------------------------------------------------------------------------------
    def _up(self, name, mib, steps):
        box = steps.run("mount", self._mount, name); steps.run("network", self._network, box)
        self._bundle(box, mib)
        self.boxes[name] = box
        return box

    def _clone(self, source, name):
        sh("cp", "--reflink=always", f"{self.pool}/{source}.ext4", f"{self.pool}/{name}.ext4")

    def _mount(self, name):
        top = f"{self.pool}/{name}"
        for sub in ("disk", "root", "state"):
            os.makedirs(f"{top}/{sub}", exist_ok=True)
        sh("mount", "-o", "loop", f"{self.pool}/{name}.ext4", f"{top}/disk")
        for sub in ("upper", "work"):
            os.makedirs(f"{top}/disk/{sub}", exist_ok=True)
        sh("mount", "-t", "overlay", "overlay", "-o", f"lowerdir={self.lower},upperdir={top}/disk/upper,workdir={top}/disk/work", f"{top}/root")
        return {"name": name, "top": top, "count": 0}

    def _umount(self, box):
        sh("umount", f"{box['top']}/root"); sh("umount", f"{box['top']}/disk")

    def _network(self, box):
        self.serial += 1  # never a name twice: the kernel ends a namespace a while after it is deleted
        ns, veth = f"bf{os.getpid()}-{self.serial}", f"bf{os.getpid() % 100000}x{self.serial}"
        sh("ip", "netns", "add", ns)
        sh("ip", "-n", ns, "link", "add", "eth0", "type", "veth", "peer", "name", veth, "netns", "1")
        sh("ip", "-n", ns, "addr", "add", "10.88.0.2/30", "dev", "eth0"); sh("ip", "-n", ns, "link", "set", "eth0", "up")
        sh("ip", "-n", ns, "link", "set", "lo", "up"); sh("ip", "-n", ns, "route", "add", "default", "via", "10.88.0.1")
        box["ns"] = ns

    def _bundle(self, box, mib):
        mount = lambda to, kind: {"destination": to, "type": kind, "source": kind}
        spec = {"ociVersion": "1.2.0", "hostname": "floor", "root": {"path": f"{box['top']}/root"},
                "process": {"args": ["python3", "-u", "/hold.py", str(mib)], "cwd": "/", "user": {"uid": 0, "gid": 0},
                            "env": ["PATH=/usr/local/bin:/usr/bin:/bin"], "capabilities": {k: CAPABILITIES for k in ("bounding", "effective", "permitted")}},
                "mounts": [mount("/proc", "proc"), mount("/dev", "tmpfs"), mount("/dev/pts", "devpts"), mount("/tmp", "tmpfs"), mount("/sys", "sysfs")],
                "linux": {"namespaces": [{"type": t} for t in ("pid", "ipc", "uts", "mount")] + [{"type": "network", "path": f"/var/run/netns/{box['ns']}"}]}}
        json.dump(spec, open(f"{box['top']}/config.json", "w"))

    def _engine(self, box, *argv, log=None):
        command = [self.runsc, f"--root={box['top']}/state", f"--shared-root={self.dir}/shared", *FLAGS, *argv]
        if log is None:
            return sh(*command)
        with open(log, "ab") as out:  # what outlives the command must append: it writes at its own offset otherwise
            return sh(*command, stdout=out, stderr=out)

    def _run(self, box):
        self._engine(box, "run", "--detach", "--bundle", box["top"], "floor", log=f"{box['top']}/log")

    def _exec(self, box):
        self._engine(box, "exec", "floor", "/bin/true")

    def _checkpoint(self, box, to):
        os.makedirs(to); self._engine(box, "checkpoint", "--leave-running", "--image-path", to, "floor")

    def _restore(self, box, image, background):
        self._engine(box, "restore", "--detach", *(["--background"] if background else []), "--bundle", box["top"], "--image-path", image, "floor", log=f"{box['top']}/log")

    def _fsync(self, image):
        for entry in os.scandir(image):
            fd = os.open(entry.path, os.O_RDONLY); os.fsync(fd); os.close(fd)

    def _count(self, box):
        lines = open(f"{box['top']}/log", "rb").read().split()
        return int(lines[-1]) if lines else 0

    def _wait_count(self, box, above):
        limit = time.time() + 120
        while self._count(box) <= above:
            if time.time() > limit: raise RuntimeError("the counter stands still")
            time.sleep(0.01)


def main():
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER, in the parent; the child does the work
    child = os.fork()
    if child:
        while True:
            pid, status = os.wait()
            if pid == child:
                os._exit(os.waitstatus_to_exitcode(status) & 255)
    floor = Floor()
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = {"result": getattr(floor, request.pop("call"))(**request)}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


main()
