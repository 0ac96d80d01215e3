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
  newer=$(find "native/cmd/$1" native/internal native/go.mod native/go.sum ! -name '*_test.go' -newer "$2" -print -quit)
  [ -z "$newer" ]
}

build_native() {
  ensure_go
  say "Building $1 for linux-$2 (its sources are newer than native/bin/linux-$2/$1)"
  local target=native/bin/linux-$2/$1
  mkdir -p "${target%/*}"
  (cd native && persistently go mod download) || fail "the modules of $1 could not be fetched, see above"
  # Never written in place: a running sandbox may have the old file mapped.
  (cd native && CGO_ENABLED=0 GOOS=linux GOARCH=$2 go build -trimpath -ldflags "-s -w" -o "../$target.new" "./cmd/$1") || fail "building $1 failed, see above"
  mv "$target.new" "$target"
}
