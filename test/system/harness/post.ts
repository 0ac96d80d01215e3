import { request } from "node:http";
import { text } from "node:stream/consumers";

/** A POST without a body and a content type, as clients of other makes send it. */
export function post(
  socketPath: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ status: number; body: unknown }> {
  return new Promise((resolve, reject) => {
    request({ socketPath, method: "POST", path, headers: { ...headers } }, (answer) => {
      text(answer).then((said) => resolve({ status: answer.statusCode ?? 0, body: JSON.parse(said) }), reject);
    })
      .once("error", reject)
      .end();
  });
}
