import { type ChildProcessByStdio, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { promisify } from "node:util";
import { patienceMs } from "./inside.ts";

const run = promisify(execFile);

/**
 * A shell on a terminal of the host. Python's pty module makes it, since Node.js has none; control lines on descriptor 3 set its size
 * and the first line on stderr names its device.
 */
const program = `
import fcntl, os, pty, select, struct, sys, termios
rows, columns = int(sys.argv[1]), int(sys.argv[2])
pid, fd = pty.fork()
if pid == 0:
    os.environ.update(PS1='host> ', TERM='xterm-256color')
    os.execvp('sh', ['sh'])
def resize(rows, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))
resize(rows, columns)
# TIOCGPTN: os.ptsname is newer than many a Python.
print('/dev/pts/%d' % struct.unpack('I', fcntl.ioctl(fd, 0x80045430, bytes(4))), file=sys.stderr, flush=True)
sources = [0, 3, fd]
while True:
    for ready in select.select(sources, [], [])[0]:
        try:
            data = os.read(ready, 65536)
        except OSError:
            data = b''
        if not data:
            os.close(fd)
            os.waitpid(pid, 0)
            sys.exit()
        if ready == fd:
            os.write(1, data)
        elif ready == 0:
            os.write(fd, data)
        else:
            resize(*map(int, data.split()))
`;

export class HostTerminal {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #device: string;
  text = "";
  #wake: () => void = () => {};

  static async open({ rows, columns }: { rows: number; columns: number }): Promise<HostTerminal> {
    const child = spawn("python3", ["-c", program, String(rows), String(columns)], {
      stdio: ["pipe", "pipe", "pipe", "pipe"],
    }) as unknown as ChildProcessByStdio<Writable, Readable, Readable>;
    const [device] = (await once(child.stderr, "data")) as [Buffer];
    return new HostTerminal(child, device.toString().trim());
  }

  private constructor(child: ChildProcessByStdio<Writable, Readable, Readable>, device: string) {
    this.#child = child;
    this.#device = device;
    child.stdout.on("data", (chunk: Buffer) => {
      this.text += chunk.toString("latin1");
      this.#wake();
    });
  }

  async type(text: string): Promise<void> {
    this.#child.stdin.write(text);
  }

  async resize({ rows, columns }: { rows: number; columns: number }): Promise<void> {
    (this.#child.stdio[3] as unknown as Writable).write(`${rows} ${columns}`);
  }

  /** Its line settings, as stty prints them for machines. */
  async settings(): Promise<string> {
    return (await run("stty", ["-F", this.#device, "-g"])).stdout;
  }

  async until(condition: (text: string) => boolean, limitMs = patienceMs): Promise<void> {
    const deadline = performance.now() + limitMs;
    while (!condition(this.text)) {
      const left = deadline - performance.now();
      if (left <= 0) {
        throw new Error(`the terminal never showed it: ${JSON.stringify(this.text.slice(-2000))}`);
      }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#child, "close");
    this.#child.stdin.end();
    await closed;
  }
}
