import type { InterpreterLanguage } from "@torpor/contract";

/**
 * A driver reads requests from a descriptor that the code it runs does not have: that one's input is empty. Before a run, when it can be interrupted, it
 * writes the request's mark between NUL bytes to stdout; after it to both outputs, on stdout with the outcome. A mark is random and comes with its request,
 * so nothing that is printed can pass for one.
 */
const python = `
import ast, json, linecache, os, signal, sys, traceback
inner = os.dup(0)
null = os.open(os.devnull, os.O_RDONLY)
os.dup2(null, 0)
os.close(null)
scope = {"__name__": "__main__", "__builtins__": __builtins__}
count = 0

def show(fd, text):
    data = text.encode("utf-8", "backslashreplace")
    while data:
        data = data[os.write(fd, data):]

def run(code):
    global count
    count += 1
    name = "<run %d>" % count
    linecache.cache[name] = (len(code), None, code.splitlines(True), name)
    tree = ast.parse(code, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), scope)
    if last is not None:
        value = eval(compile(ast.Expression(last.value), name, "eval"), scope)
        return None if value is None else repr(value)

signal.signal(signal.SIGINT, signal.SIG_IGN)
for line in os.fdopen(inner, "rb"):
    request = json.loads(line)
    outcome = {"result": None, "error": None}
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        show(1, "\\0" + request["mark"] + "\\0")
        outcome["result"] = run(request["code"])
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    except BaseException as error:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        frames = error.__traceback__
        while frames is not None and not frames.tb_frame.f_code.co_filename.startswith("<run "):
            frames = frames.tb_next
        text = "".join(traceback.format_exception(type(error), error, frames))
        outcome["error"] = {"name": type(error).__name__, "message": str(error), "traceback": text}
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass
    show(2, "\\0" + request["mark"] + "\\0")
    show(1, "\\0" + request["mark"] + json.dumps(outcome) + "\\0")
`;

const shell = `
exec 9<&0 </dev/null
trap : INT
while :; do
  read -r -u 9 torpor_mark torpor_code || { [ $? -gt 128 ] && continue; break; }
  torpor_code="$(printf %s "$torpor_code" | base64 -d)"
  printf '\\0%s\\0' "$torpor_mark"
  eval "$torpor_code" 9<&-
  torpor_code=$?
  printf '\\0%s\\0' "$torpor_mark" >&2
  printf '\\0%s{"exitCode":%d}\\0' "$torpor_mark" "$torpor_code"
done
`;

/** The last word tells interpreters among the sessions. */
export const driverName = "torpor-interpreter";

export const drivers: Readonly<Record<InterpreterLanguage, readonly string[]>> = {
  python: ["python3", "-u", "-c", python, driverName],
  shell: ["bash", "-c", shell, driverName],
};

export function requestOf(language: InterpreterLanguage, mark: string, code: string): Uint8Array {
  const text = language === "python" ? JSON.stringify({ mark, code }) : `${mark} ${toBase64(new TextEncoder().encode(code)) || "Og=="}`;
  return new TextEncoder().encode(`${text}\n`);
}

function toBase64(data: Uint8Array): string {
  let text = "";
  for (let at = 0; at < data.length; at += 8192) text += String.fromCharCode(...data.subarray(at, at + 8192));
  return btoa(text);
}
