import type { PortList, ReachablePort, Sandbox } from "@torpor/contract";
import { useCallback, useEffect, useState } from "preact/hooks";
import { call } from "../api/call.ts";
import { showError } from "../state/toasts.ts";

export function Ports({ sandbox }: { readonly sandbox: Sandbox }) {
  const path = `/v1/sandboxes/${encodeURIComponent(sandbox.id)}/ports`;
  const [ports, setPorts] = useState<readonly ReachablePort[] | undefined>(undefined);
  const [port, setPort] = useState("");
  const [open, setOpen] = useState(false);
  const load = useCallback(
    () =>
      call<PortList>("GET", path).then(
        (list) => setPorts(list.ports),
        (error) => showError(error, "List the ports"),
      ),
    [path],
  );
  useEffect(() => void load(), [load]);
  const expose = (event: Event) => {
    event.preventDefault();
    call("PUT", `${path}/${Number(port)}`, { json: { public: open } }).then(
      () => {
        setPort("");
        return load();
      },
      (error) => showError(error, `Port ${port}`),
    );
  };
  const withdraw = (one: number) => call("DELETE", `${path}/${one}`).then(load, (error) => showError(error, `Port ${one}`));
  return (
    <div class="stack">
      <form class="sheet form" onSubmit={expose} aria-label="Give a port an address">
        <label>
          Port in the sandbox
          <input type="number" min="1" max="65535" required value={port} onInput={(event) => setPort(event.currentTarget.value)} />
        </label>
        <label class="check">
          <input type="checkbox" checked={open} onChange={(event) => setOpen(event.currentTarget.checked)} />
          Whoever reaches this server may use it
        </label>
        <div class="wide row">
          <button type="submit" class="fill">
            Give it an address
          </button>
        </div>
      </form>
      {ports?.length === 0 ? (
        <div class="empty">
          <h2>No port has an address</h2>
          <p>A server in the sandbox can be reached from outside when its port has one. It stays over a pause, a stop and a restart.</p>
        </div>
      ) : (
        <ul class="stack">
          {ports?.map((one) => (
            <li key={one.port} class="sheet row apart">
              <div>
                <h2>{one.port}</h2>
                <p class="small">
                  {one.url === null ? (
                    <span class="soft">This server listens at no address.</span>
                  ) : (
                    <a href={one.url} target="_blank" rel="noreferrer">
                      {one.url}
                    </a>
                  )}
                </p>
                <p class="soft small">{one.public ? "for everybody" : "for who has a token"}</p>
              </div>
              <button type="button" class="bad" onClick={() => withdraw(one.port)}>
                Take it away
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
