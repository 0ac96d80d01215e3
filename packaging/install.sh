#!/bin/sh
# Installs torpor and torpord on this host, and starts torpord where systemd runs. Again for an upgrade: sandboxes go on meanwhile.
#   packaging/install.sh [--from DIRECTORY] [--prefix DIRECTORY] [--no-service] [VERSION]
#   --from        packages that scripts/package has made; default: those of npm, VERSION or the latest
#   --prefix      where to; default: where npm installs programs of all users
#   --no-service  leave systemd alone
set -eu

from='' prefix='' own='' service=yes version=latest
while [ $# -gt 0 ]; do
  case $1 in
    --from) from=${2:?} && shift ;;
    --prefix) prefix=${2:?} && shift ;;
    --no-service) service=no ;;
    -*) echo "error: there is no option $1: --from, --prefix and --no-service are" >&2 && exit 2 ;;
    *) version=$1 ;;
  esac
  shift
done

fail() { printf 'error: %s\n       %s\n' "$1" "$2" >&2 && exit 1; }
say() { printf '==> %s\n' "$*" >&2; }

[ "$(uname -s)" = Linux ] || fail "torpord runs on Linux, this is $(uname -s)" "the client alone runs here: npm install -g @torpor/cli"
[ "$(id -u)" = 0 ] || fail "torpord mounts disks and makes networks, so root has to install it" "run it by sudo"
command -v npm >/dev/null || fail "there is no npm" "install Node.js 22.18 or later, which brings it"
node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 22 || (a == 22 && b >= 18) ? 0 : 1)' ||
  fail "Node.js 22.18 or later is needed, found $(node --version)" "install a newer one"

# Debian's names; `torpor doctor` tells what another distribution lacks.
packages='xfsprogs e2fsprogs iproute2 nftables skopeo umoci mmdebstrap runc'
if command -v dpkg-query >/dev/null; then
  missing=
  for package in $packages; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q ' installed$' || missing="$missing $package"
  done
  if [ -n "$missing" ]; then
    say "Installing what torpord starts:$missing"
    apt-get update -q >&2
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing >&2
  fi
fi

if [ -n "$from" ]; then
  set -- "$from"/torpor-daemon-*.tgz
  [ -e "$1" ] || fail "$from has no packages" "make them with scripts/package $from"
  directory=$(cd "$from" && pwd) cpu=$(node -p process.arch)
  # Of the packages for one platform this machine's alone: npm refuses the others.
  set --
  for file in "$directory"/*.tgz; do
    case $file in *-linux-"$cpu"-*.tgz) own=yes ;; *-linux-*.tgz) continue ;; esac
    set -- "$@" "$file"
  done
  [ -n "$own" ] || fail "$from has no engine for linux-$cpu" "make it with scripts/package $from on such a machine, or with TORPOR_ARCHES=\"amd64 arm64\""
else
  set -- "@torpor/cli@$version" "@torpor/daemon@$version"
fi
say "Installing $*"
# No package of theirs has to run anything to be installed.
npm install -g ${prefix:+--prefix "$prefix"} --ignore-scripts --no-audit --no-fund --loglevel=error "$@" >&2
[ -n "$prefix" ] || prefix=$(npm prefix -g)
daemon=$prefix/lib/node_modules/@torpor/daemon

if [ $service = yes ] && [ -d /run/systemd/system ]; then
  sed "s|^ExecStart=.*|ExecStart=$(command -v node) $daemon/dist/main.js|" "$daemon/packaging/torpord.service" >/etc/systemd/system/torpord.service
  systemctl daemon-reload
  systemctl enable torpord
  systemctl restart torpord
  say "torpord runs; its settings are in /etc/torpor/torpord.env, its log is shown by journalctl -u torpord"
else
  say "Start it with: $prefix/bin/torpor daemon start"
fi
"$prefix/bin/torpor" doctor
