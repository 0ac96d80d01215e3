# shellcheck shell=bash
# The oldest and the newest Node.js that the packages are for, which a test runs the installed packages on beside the pinned one; kept in the
# cache (120 MB each), from the same npm packages as the pinned one.

OTHER_NODES="22.18.0 26.12.1"

ensure_nodes() {
  local version
  for version in $OTHER_NODES; do
    [ -x "$(cache_directory)/node-$version/node" ] || fetch_node "$version"
  done
}

fetch_node() {
  local home partial cpu
  home=$(cache_directory)/node-$1
  mkdir -p "$home"
  partial=$(mktemp -d "$home/partial.XXXXXX")
  case $(host_arch) in amd64) cpu=x64 ;; *) cpu=$(host_arch) ;; esac
  say "Fetching Node.js $1 (the packages are tested on it; kept in $home)"
  { npm pack --silent --ignore-scripts --pack-destination "$partial" "node-linux-$cpu@$1" && tar -xzf "$partial"/*.tgz -C "$partial" package/bin/node; } >&2 ||
    { rm -rf "$partial"; fail "npm could not fetch node-linux-$cpu@$1" "see its output above"; }
  mv "$partial/package/bin/node" "$home/node"
  rm -rf "$partial"
}
