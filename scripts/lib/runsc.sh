# shellcheck shell=bash
# The gVisor engine. What is pinned stands in one file, which the daemon reads too. Order: TORPOR_RUNSC, the pinned build in the data
# directory, the one in the shared cache, a runsc on PATH that can do all we need, a release from TORPOR_RUNSC_URL, a build with Go.

RUNSC_PIN=packages/daemon/src/engines/gvisor/pin.json

ensure_runsc() {
  if [ -n "${TORPOR_RUNSC:-}" ]; then
    runsc_suffices "$TORPOR_RUNSC" || fail "TORPOR_RUNSC=$TORPOR_RUNSC cannot be used: $REASON" "unset it, or name a runsc of $(pinned version) or later"
    return
  fi
  local version cached
  version=$(pinned version)
  cached=$(cache_directory)/runsc-$version/runsc
  # The daemon keeps each engine under its digest, with a note of its version.
  grep -qs "\"version\":\"$version\"" "${TORPOR_DATA:-/var/lib/torpor}"/engines/runsc/*/engine.json && return
  [ -x "$cached" ] && return
  if command -v runsc >/dev/null; then
    runsc_suffices "$(command -v runsc)" && return
    say "The runsc on PATH is not used: $REASON"
  fi
  mkdir -p "${cached%/*}"
  if [ -n "${TORPOR_RUNSC_URL:-}" ]; then download_runsc "$cached"; else build_runsc "$cached"; fi
}

pinned() { sed -n "s/^ *\"$1\": \"\(.*\)\",*$/\1/p" "$RUNSC_PIN"; }

# Features are asked for, not only versions: a distribution's package may carry any date. Sets REASON when it does not suffice.
runsc_suffices() {
  REASON=
  [ -x "$1" ] || { REASON="there is no such program"; return 1; }
  local version
  version=$("$1" --version 2>/dev/null | sed -n 's/^runsc version //p')
  case $version in
    *20221219* | *20240729*) REASON="$version is a distribution's package, too old to restore a sandbox in the background"; return 1 ;;
  esac
  has_flag "$1" restore background && has_flag "$1" checkpoint leave-running && has_flag "$1" flags shared-root && has_flag "$1" flags allow-suid
}

has_flag() {
  local text
  if [ "$2" = flags ]; then text=$("$1" flags 2>&1); else text=$("$1" help "$2" 2>&1); fi
  [[ $text =~ (^|[[:space:]])-+$3 ]] && return
  REASON="it has no -$3 (runsc $2)"
  return 1
}

download_runsc() {
  [ -n "${TORPOR_RUNSC_SHA256:-}" ] || fail "TORPOR_RUNSC_URL is set without TORPOR_RUNSC_SHA256" "give the release's checksum too: an engine is not taken on trust"
  say "Fetching runsc from TORPOR_RUNSC_URL"
  if command -v curl >/dev/null; then curl -fsSL -o "$1.new" "$TORPOR_RUNSC_URL"; else wget -q -O "$1.new" "$TORPOR_RUNSC_URL"; fi || fail "TORPOR_RUNSC_URL could not be fetched"
  echo "$TORPOR_RUNSC_SHA256  $1.new" | sha256sum -c --status || { rm -f "$1.new"; fail "what TORPOR_RUNSC_URL gave has another checksum than TORPOR_RUNSC_SHA256"; }
  chmod 755 "$1.new"
  runsc_suffices "$1.new" || fail "the runsc from TORPOR_RUNSC_URL cannot be used: $REASON"
  mv "$1.new" "$1"
}

# gVisor's go branch is an ordinary Go module, checked by Go's checksum database: no bazel.
build_runsc() {
  ensure_go
  local version directory
  version=$(pinned version)
  directory=$(mktemp -d "${1%/*}/build.XXXXXX")
  say "Building the engine, runsc $version, from its Go module (no usable runsc was found; 1 to 3 minutes, once per machine, kept in ${1%/*})"
  GOBIN=$directory GOFLAGS='' CGO_ENABLED=0 persistently go install -trimpath -ldflags="-s -w -X $(pinned versionVariable)=$version" "$(pinned package)@$(pinned moduleVersion)" ||
    { rm -rf "$directory"; fail "building runsc failed, see above" "TORPOR_RUNSC may name a runsc that you have"; }
  mv "$directory/runsc" "$1"
  rmdir "$directory"
  [[ $("$1" --version) == *"$version"* ]] || fail "the runsc just built does not say version $version" "remove $1"
}

# For packages: the pinned build and no other, for either processor. Another machine's lies apart, where none looks for an engine to run.
pinned_runsc() {
  local version
  version=$(pinned version)
  if [ "$1" = "$(host_arch)" ]; then echo "$(cache_directory)/runsc-$version/runsc"; else echo "$(cache_directory)/packages/runsc-$version-$1/runsc"; fi
}

ensure_pinned_runsc() {
  local target
  target=$(pinned_runsc "$1")
  [ -x "$target" ] && return
  mkdir -p "${target%/*}"
  if [ "$1" = "$(host_arch)" ]; then build_runsc "$target"; else cross_build_runsc "$1" "$target"; fi
}

# Go installs what it builds for another platform below GOPATH only, in a folder of that platform's name.
cross_build_runsc() {
  ensure_go
  local version modules directory
  version=$(pinned version)
  modules=$(go env GOMODCACHE)
  directory=$(mktemp -d "${2%/*}/build.XXXXXX")
  say "Building the engine, runsc $version, for linux-$1 from its Go module (1 to 3 minutes, once per machine, kept in ${2%/*})"
  GOBIN='' GOPATH=$directory GOMODCACHE=$modules GOOS=linux GOARCH=$1 GOFLAGS='' CGO_ENABLED=0 \
    persistently go install -trimpath -ldflags="-s -w -X $(pinned versionVariable)=$version" "$(pinned package)@$(pinned moduleVersion)" ||
    { rm -rf "$directory"; fail "building runsc for linux-$1 failed, see above"; }
  mv "$directory/bin/linux_$1/runsc" "$2"
  rm -rf "$directory"
}
