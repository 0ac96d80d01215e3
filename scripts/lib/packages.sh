# shellcheck shell=bash
# The programs that come with the operating system. Each line: what must be there (a command, or a check below), the Debian package
# that brings it, and why Torpor wants it.

host_programs() {
  cat <<'LIST'
mkfs.xfs    xfsprogs    the pool is an XFS file system with reflinks
mkfs.ext4   e2fsprogs   a sandbox's disk is an ext4 image
ip          iproute2    a network namespace per sandbox
nft         nftables    NAT and the egress rules
skopeo      skopeo      images are fetched from registries
umoci       umoci       images are unpacked
mmdebstrap  mmdebstrap  the default image is built without a registry
runc        runc        the engine without isolation
LIST
}

test_programs() {
  cat <<'LIST'
chromium        chromium         tests use the page in a browser
curl            curl             the guides' commands, which tests run
docker-registry docker-registry  tests pull from a real registry on loopback
fonts           fonts-dejavu-core  what the browser of the tests writes with
fish            fish             tests complete in it
faketime        faketime         tests set a daemon's clock back
strace          strace           tests look at system calls
tmux            tmux             tests type into a terminal
python_venv     python3-venv     a local package index, the Python SDK
postgres_server postgresql-15    tests start a server of their own, as a second store
zsh             zsh              tests complete in it
LIST
}

# ensure_programs LIST-FUNCTION
ensure_programs() {
  local missing=() program package why
  while read -r program package why; do
    is_there "$program" && continue
    missing+=("$package")
    say "Missing: $package ($why)"
  done < <("$1")
  [ ${#missing[@]} -eq 0 ] || install_packages "${missing[@]}"
}

# Debian would start a server of its own with the package, which nobody here needs.
no_own_postgres() {
  [ -e /etc/postgresql-common/createcluster.conf ] && return
  mkdir -p /etc/postgresql-common && echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf
}

install_packages() {
  command -v apt-get >/dev/null || fail "this system has no apt-get, so these must be installed by hand: $*" "(names are Debian's; your distribution's may differ)"
  [ "$(id -u)" = 0 ] || fail "installing packages needs root" "run: sudo apt-get install $*"
  say "Installing with apt-get: $*"
  case " $* " in *" postgresql-15 "*) no_own_postgres ;; esac
  { refresh_lists && DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 -o Acquire::Retries=5 install -q -y --no-install-recommends "$@"; } \
    </dev/null >&2 || fail "apt-get could not install: $*" "see its output above"
}

# For the lock of the lists, unlike that of the packages, apt does not wait: a machine that has just begun updates them by itself.
refresh_lists() {
  local output rc waited
  for ((waited = 0; waited < 600; waited += 2)); do
    rc=0
    output=$(apt-get -o Acquire::Retries=5 update -q 2>&1) || rc=$?
    [[ $rc != 0 && $output == *"Could not get lock"* ]] || break
    [ "$waited" != 0 ] || say "Waiting for another apt-get to end"
    sleep 2
  done
  printf '%s\n' "$output"
  return "$rc"
}

is_there() {
  case $1 in
    python_venv) python3 -c 'import ensurepip, venv' 2>/dev/null ;;
    # Not on the PATH: Debian keeps the versions apart.
    postgres_server) compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null ;;
    fonts) compgen -G '/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf' >/dev/null ;;
    # Root's sbin folders are not on everyone's PATH.
    *) PATH=$PATH:/usr/sbin:/sbin command -v "$1" >/dev/null ;;
  esac
}
