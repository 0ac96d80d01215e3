# shellcheck shell=bash
# What the scripts tell the person: one line when something begins that takes time, one when it cannot go on.

say() { printf '\033[1m==>\033[0m %s\n' "$*" >&2; }

fail() {
  printf 'error: %s\n' "$1" >&2
  shift
  local line
  for line in "$@"; do printf '       %s\n' "$line" >&2; done
  exit 1
}

# persistently COMMAND…: what fetches from elsewhere. A registry may not answer for a moment; after the third time it is no moment any more.
persistently() {
  local tries
  for tries in 1 2 3; do
    "$@" && return
    [ "$tries" = 3 ] && return 1
    say "$1 failed, see above: once more in 10 s"
    sleep 10
  done
}

# alone NAME COMMAND…: what makes anything in the cache, which all clones of this machine share. Look again whether it is there: another may have made it.
alone() {
  local lock
  lock=$(cache_directory)/$1.lock
  shift
  mkdir -p "${lock%/*}"
  (
    if command -v flock >/dev/null; then
      exec 8>"$lock"
      flock -n 8 || { say "Waiting for another clone to end ($lock)"; flock 8; }
    fi
    "$@"
  )
}

# version_at_least HAVE WANT: dotted numbers, compared by number.
version_at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n1)" = "$2" ]; }

# The word that Go, npm and our binaries' folders use for this processor.
host_arch() {
  case "$(uname -m)" in
    x86_64 | amd64) echo amd64 ;;
    aarch64 | arm64) echo arm64 ;;
    *) fail "Torpor has no build for this processor ($(uname -m))" "amd64 and arm64 are supported" ;;
  esac
}

# What may be shared by several clones and is worth keeping: toolchains and the engine.
cache_directory() { echo "${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/torpor"; }
