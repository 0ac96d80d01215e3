# shellcheck shell=bash
# What tests run the installed client on beside the pinned Node.js: the oldest and the newest that the packages are for, Bun and Deno. Kept in the
# cache (about 100 MB each), from npm packages as the pinned one.

OTHER_NODES="22.18.0 26.12.1"
BUN=1.4.5
DENO=2.9.6

ensure_nodes() {
  local version node bun deno
  case $(host_arch) in
    amd64) node=linux-x64 bun=linux-x64 deno=linux-x64-glibc ;;
    *) node=linux-arm64 bun=linux-aarch64 deno=linux-arm64-glibc ;;
  esac
  for version in $OTHER_NODES; do ensure_runtime "node-$version" bin/node "node-$node@$version"; done
  ensure_runtime "bun-$BUN" bin/bun "@oven/bun-$bun@$BUN"
  ensure_runtime "deno-$DENO" deno "@deno/$deno@$DENO"
}

# ensure_runtime NAME-VERSION FILE PACKAGE: the package's FILE as NAME-VERSION/NAME.
ensure_runtime() {
  local home name=${1%-*} partial
  home=$(cache_directory)/$1
  [ ! -x "$home/$name" ] || return 0
  mkdir -p "$home"
  partial=$(mktemp -d "$home/partial.XXXXXX")
  say "Fetching $1 (the packages are tested on it; kept in $home)"
  { persistently npm pack --silent --ignore-scripts --pack-destination "$partial" "$3" && tar -xzf "$partial"/*.tgz -C "$partial" "package/$2"; } >&2 ||
    { rm -rf "$partial"; fail "npm could not fetch $3" "see its output above"; }
  # Not each package says that its program is one.
  chmod +x "$partial/package/$2"
  mv "$partial/package/$2" "$home/$name"
  rm -rf "$partial"
}
