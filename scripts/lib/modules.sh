# shellcheck shell=bash
# The npm modules, and with them the pinned Node.js: the npm package `node` ships the binary, so any system Node that can run npm is
# enough to begin with. better-sqlite3 13 crashes on Node 20; it is only ever loaded by the pinned one.

ensure_modules() {
  local stamp=node_modules/.torpor-lock
  [ -x node_modules/.bin/node ] && [ "$(cat "$stamp" 2>/dev/null)" = "$(lock_digest)" ] && return
  command -v npm >/dev/null || fail "npm is not installed, so nothing can be fetched" "install Node.js 18 or later (on Debian: apt-get install nodejs npm) and run this again"
  local have
  have=$(node --version 2>/dev/null | tr -d v) || true
  version_at_least "${have:-0}" 18 || fail "npm needs Node.js 18 or later, found ${have:-none}" "install a newer Node.js; the one that Torpor runs on is then fetched by npm"
  say "Fetching the npm modules and Node.js $(pinned_node) (the lock file changed or this is the first run; about 30 s)"
  npm ci --no-audit --no-fund --loglevel=error >&2 || fail "npm ci failed, see above"
  [ -x node_modules/.bin/node ] || fail "npm ci brought no node_modules/.bin/node" "install scripts may be switched off: npm config set ignore-scripts false"
}

# Also run by npm after each install by hand (package.json, postinstall), so that such an install is not repeated.
stamp_modules() { lock_digest >node_modules/.torpor-lock; }

lock_digest() { cksum <package-lock.json; }

pinned_node() { sed -n 's/^ *"node": "\([0-9.]*\)",*$/\1/p' package.json; }
