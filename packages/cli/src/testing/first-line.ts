import type { Readable } from "node:stream";

/** What comes first, up to the end of its line or of all, in however many pieces; the rest is left to be read. */
export function firstLine(stream: Readable): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const take = (chunk: Buffer) => {
      text += chunk.toString("latin1");
      const end = text.indexOf("\n");
      if (end >= 0) done(text.slice(0, end), text.slice(end + 1));
    };
    const over = () => done(text, "");
    const done = (line: string, rest: string) => {
      stream.off("data", take).off("end", over).off("error", reject).pause();
      if (rest !== "") stream.unshift(Buffer.from(rest, "latin1"));
      resolve(Buffer.from(line, "latin1").toString());
    };
    stream.on("data", take).once("end", over).once("error", reject);
  });
}
