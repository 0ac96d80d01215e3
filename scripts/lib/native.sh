# shellcheck shell=bash
# The static Go programs, native/bin/<os>-<arch>/torpor{-guest,-connect,,-shim}. The first three run inside every sandbox, whatever its C library,
# hence static. TORPOR_ARCHES="amd64 arm64" builds for both processors (a release needs that).

ensure_native() {
  local arch program
  for arch in ${TORPOR_ARCHES:-$(host_arch)}; do
    for program in torpor-guest torpor-connect torpor torpor-shim; do
      [ -d "native/cmd/$program" ] || continue
      is_fresh "$program" "native/bin/linux-$arch/$program" || build_native "$program" "$arch"
    done
  done
}

is_fresh() {
  [ -x "$2" ] || return
  local newer
  newer=$(find "native/cmd/$1" native/internal native/go.mod native/go.sum scripts/lib/native.sh ! -name '*_test.go' -newer "$2" -print -quit)
  [ -z "$newer" ]
}

# PID 1 is part of every checkpoint, and Go's runtime spreads a few words for each size of object over 0.5 MB, 1 MB after a collection: tables with
# room for a heap of 1 GB. In this program they begin small, and grow like the large ones (docs/decisions/0214-small-tables-in-pid-1.md).
small_tables() {
  local file=$1/src/runtime/mspanset.go small=$2/mspanset.go
  sed -e 's/^\tspanSetBlockEntries = 512 /\tspanSetBlockEntries = 32 /' -e 's/^\tspanSetInitSpineCap = 256 /\tspanSetInitSpineCap = 8 /' "$file" >"$small"
  [ "$(diff "$file" "$small" | grep -c '^>')" = 2 ] || fail "This Go's runtime is not the one that small_tables in scripts/lib/native.sh knows: look at $file"
  printf '{"Replace":{"%s":"%s"}}' "$file" "$small" >"$2/overlay.json"
}

build_native() {
  ensure_go
  say "Building $1 for linux-$2 (its sources are newer than native/bin/linux-$2/$1)"
  local target=native/bin/linux-$2/$1
  mkdir -p "${target%/*}"
  (cd native && persistently go mod download) || fail "the modules of $1 could not be fetched, see above"
  local overlay=() own
  if [ "$1" = torpor-guest ]; then
    own=$(mktemp -d)
    small_tables "$(cd native && go env GOROOT)" "$own"
    overlay=(-overlay "$own/overlay.json")
  fi
  # Never written in place: a running sandbox may have the old file mapped.
  (cd native && CGO_ENABLED=0 GOOS=linux GOARCH=$2 go build "${overlay[@]}" -trimpath -ldflags "-s -w" -o "../$target.new" "./cmd/$1") || fail "building $1 failed, see above"
  mv "$target.new" "$target"
  [ -z "${own:-}" ] || rm -r "$own"
}
