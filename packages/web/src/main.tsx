import "@xterm/xterm/css/xterm.css";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/controls.css";
import "./styles/fields.css";
import "./styles/shell.css";
import "./styles/console.css";
import "./styles/sandbox.css";
import "./styles/terminal.css";
import "./styles/motion.css";
import { effect } from "@preact/signals";
import { render } from "preact";
import { App } from "./app.tsx";
import { watchKeys } from "./keys.ts";
import { watchPlace } from "./router.ts";
import { access, enter } from "./state/access.ts";
import { followSandboxes } from "./state/live.ts";
import { tick } from "./state/now.ts";
import { followStats } from "./state/stats.ts";
import { applyTheme } from "./state/theme.ts";
import { showError } from "./state/toasts.ts";

applyTheme();
watchPlace();
watchKeys();
tick();

let following = false;
effect(() => {
  if (access.value !== "in" || following) return;
  following = true;
  followSandboxes();
  void followStats();
});

const root = document.getElementById("app");
if (root !== null) {
  root.replaceChildren();
  render(<App />, root);
}
enter().catch((error) => showError(error, "Sign in"));
