import { createError } from "../errors.ts";
import { PortCalls } from "../port-calls.ts";
import type { Transport } from "./transport.ts";

/** Takes the place of port-client.ts in a browser, which has no connections of its own: a port that is exposed has a URL. */
export class PortClient extends PortCalls<Transport> {
  connect(_id: string, port: number): Promise<never> {
    return Promise.reject(
      createError("invalid_request", `a browser can't connect to port ${port} of a sandbox`, {
        hint: "Expose it: it has an address then.",
      }),
    );
  }
}
