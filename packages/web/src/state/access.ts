import { signal } from "@preact/signals";
import { TorporError } from "@torpor/contract/error";
import { call, signedOut } from "../api/call.ts";

/** `unknown` until the daemon has said who this browser is to it. */
export const access = signal<"unknown" | "in" | "out">("unknown");

signedOut.tell = () => {
  access.value = "out";
};

/** Uses up the code of a one-time link, which stands in the fragment: that part of an address is sent to nobody. */
export async function enter(): Promise<void> {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (code !== null) {
    history.replaceState(null, "", location.pathname + location.search);
    await signIn({ code });
    return;
  }
  try {
    await call("GET", "/v1/whoami");
  } catch (error) {
    if (error instanceof TorporError && (error.code === "unauthorized" || error.code === "forbidden")) {
      access.value = "out";
      return;
    }
    // An unreachable daemon is said by the page itself.
  }
  access.value = "in";
}

export async function signIn(json: { code: string } | { token: string }): Promise<void> {
  access.value = "out";
  await call("POST", "/v1/login", { json });
  access.value = "in";
}

export async function signOut(): Promise<void> {
  await call("POST", "/v1/logout");
  // A new document: nothing of what this one has seen is left.
  location.assign("/");
}
