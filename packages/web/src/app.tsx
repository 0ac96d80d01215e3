import { Console } from "./console/console.tsx";
import { FamilyPage } from "./family/family-page.tsx";
import { helpOpen } from "./keys.ts";
import { LaunchDialog } from "./launch/launch-dialog.tsx";
import { Confirmation } from "./parts/confirm.tsx";
import { Help } from "./parts/help.tsx";
import { Toasts } from "./parts/toasts.tsx";
import { place } from "./router.ts";
import { SandboxPage } from "./sandbox/sandbox-page.tsx";
import { SignIn } from "./sign-in.tsx";
import { access, signOut } from "./state/access.ts";
import { reachable } from "./state/sandboxes.ts";
import { nextTheme, theme } from "./state/theme.ts";
import { showError } from "./state/toasts.ts";

export function App() {
  return (
    <>
      <Top />
      {reachable.value ? null : (
        <p class="notice" role="status">
          torpord does not answer; trying again. Sandboxes that run go on without it. <code>torpor daemon start</code> starts it.
        </p>
      )}
      <main>{access.value === "out" ? <SignIn /> : access.value === "in" ? <Shown /> : null}</main>
      <Toasts />
      <Confirmation />
      <Help />
      <LaunchDialog />
    </>
  );
}

function Top() {
  const { at } = place.value;
  const current = (here: boolean) => (here ? ({ "aria-current": "page" } as const) : {});
  return (
    <header class="top">
      <a class="brand" href="/" aria-label="Torpor: all sandboxes">
        <img src="/eye.svg" alt="" width="28" height="28" />
        <span>Torpor</span>
      </a>
      <nav aria-label="Main">
        <a href="/" {...current(at === "sandboxes" || at === "sandbox")}>
          Sandboxes
        </a>
        <a href="/family" {...current(at === "family")}>
          Family
        </a>
        <a href="/docs/">Docs</a>
      </nav>
      <button type="button" class="plain" onClick={nextTheme} title="Light, dark, or as the system has it">
        <span aria-hidden="true">◐</span>
        <span class="theme-name">{theme.value}</span>
        <span class="hidden-text">Change the colours</span>
      </button>
      <button
        type="button"
        class="plain"
        aria-label="Keys and help"
        onClick={() => {
          helpOpen.value = true;
        }}
      >
        ?
      </button>
      {access.value === "in" ? (
        <button type="button" class="plain" onClick={() => signOut().catch((error) => showError(error, "Sign out"))}>
          Sign out
        </button>
      ) : null}
    </header>
  );
}

function Shown() {
  const shown = place.value;
  switch (shown.at) {
    case "sandboxes":
      return <Console />;
    case "family":
      return <FamilyPage />;
    case "sandbox":
      return <SandboxPage key={shown.name} {...shown} />;
    case "nowhere":
      return (
        <div class="empty">
          <h1>There is no such page</h1>
          <p>The address may be of another version of Torpor.</p>
          <a class="button" href="/">
            All sandboxes
          </a>
        </div>
      );
  }
}
