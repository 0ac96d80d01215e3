# shellcheck shell=bash
# The Pythons that the Python client is tested with: the oldest and the newest of those it is for that this machine has. Each has an environment
# of its own, .tools/python/{oldest,newest}, from sdks/python/requirements; the newest also has the tools that check, generate and build.

PYTHON_OLDEST=3.10
PYTHON_NEWEST=3.13

ensure_python() {
  local found
  found=$(usable_pythons)
  if [ -z "$found" ]; then
    install_packages python3 python3-venv
    found=$(usable_pythons)
    [ -n "$found" ] || fail "no Python from $PYTHON_OLDEST to $PYTHON_NEWEST is here" "install one with its venv module and run this again"
  fi
  mkdir -p .tools/python
  ensure_environment oldest "$(head -n1 <<<"$found" | cut -d' ' -f2)"
  ensure_environment newest "$(tail -n1 <<<"$found" | cut -d' ' -f2)"
}

# Lines of "3.11.7 /usr/bin/python3.11", sorted; one a minor version.
usable_pythons() {
  local candidate
  {
    compgen -c python3 | grep -E '^python3(\.[0-9]+)?$' | sort -u
    compgen -G "${PYENV_ROOT:-$HOME/.pyenv}/versions/*/bin/python3"
  } | while read -r candidate; do
    # It has to run, and to make environments: Debian's comes without.
    "$candidate" -c 'import ensurepip, os, sys, venv; print("%d.%d.%d" % sys.version_info[:3], os.path.realpath(sys.executable))' 2>/dev/null || true
  done | sort -u | sort -t. -k1,1n -k2,2n -k3,3n | while read -r version path; do
    version_at_least "$version" "$PYTHON_OLDEST" && version_at_least "$PYTHON_NEWEST.999" "$version" && echo "$version $path"
  done
}

# ensure_environment NAME PYTHON: kept in the cache by what is in it, so that clones share it.
ensure_environment() {
  local digest home
  digest=$({ "$2" -VV; cat sdks/python/requirements/*.txt scripts/lib/python.sh; } | cksum | cut -d' ' -f1)
  home=$(cache_directory)/python-$1-$digest
  [ -e "$home/.whole" ] || alone python make_environment "$1" "$2" "$home" || exit 1
  ln -sfn "$home" ".tools/python/$1"
}

make_environment() {
  [ ! -e "$3/.whole" ] || return 0
  local list=test
  [ "$1" = newest ] && list=tools
  say "Fetching what the Python client is tested with ($1: $("$2" --version); about 20 s, kept in $3)"
  # Environments know their own path, so it is made in place; the mark comes last.
  rm -rf "$3"
  # The wheels stay: tests install the client's own with what it needs from them.
  { "$2" -m venv "$3" && persistently "$3/bin/pip" download -q --timeout 60 --disable-pip-version-check -d "$3/wheels" -r "sdks/python/requirements/$list.txt" &&
    "$3/bin/pip" install -q --disable-pip-version-check --no-index --find-links "$3/wheels" -r "sdks/python/requirements/$list.txt"; } >&2 ||
    fail "pip could not fetch what sdks/python/requirements/$list.txt names" "see its output above"
  touch "$3/.whole"
}
