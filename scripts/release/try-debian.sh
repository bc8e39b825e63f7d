#!/usr/bin/env bash
# scripts/release/try-debian.sh <package.deb> [root]: installs the package in a fresh Debian, starts the
# service, makes a run and verifies its receipt, upgrades over the data, removes and purges. `root` is a
# system that debootstrap made; without one it makes its own. systemd-nspawn boots it, with a network of
# its own; where that is missing or may not, it is entered by chroot, and cf starts the server with the
# user and settings of the unit. The last line says which. For root.
set -euo pipefail
deb=$(realpath "${1:?a package}")
work=$(mktemp -d)
root=${2:-$work/root}
server=
container=
init=
finish() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  [ -z "$init" ] || kill -KILL "$init" 2>/dev/null || true
  [ -z "$container" ] || wait "$container" 2>/dev/null || true
  ! mountpoint --quiet "$root/proc" || umount "$root/proc"
  rm -rf "$work"
}
trap finish EXIT
step() { echo "$(($(date +%s) - began)) s: $1"; }
fail() { echo "FAILED: $1" >&2; exit 1; }
entered() {
  if [ -n "$init" ]; then nsenter --target "$init" --mount --uts --ipc --net --pid --root --wd "$@"
  else chroot "$root" "$@"; fi
}
inside() { entered env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C DEBIAN_FRONTEND=noninteractive "$@"; }

if [ ! -d "$root" ]; then
  command -v debootstrap >/dev/null || fail 'debootstrap is missing: apt-get install debootstrap'
  # shellcheck disable=SC1091
  suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
  debootstrap --variant=minbase --include=adduser,libstdc++6,systemd,systemd-sysv,dbus,curl "$suite" \
    "$root" ${DEBIAN_MIRROR:-} >/dev/null
fi
began=$(date +%s)

# The first process of a container is systemd, a child of systemd-nspawn; within 30 s it answers.
boot() {
  command -v systemd-nspawn >/dev/null || return 1
  systemd-nspawn --directory "$root" --boot --register=no --keep-unit --private-network \
    --console=pipe </dev/null >"$work/boot" 2>&1 &
  container=$!
  for _ in $(seq 120); do
    sleep 0.25
    kill -0 "$container" 2>/dev/null || break
    init=$(pgrep --parent "$container" systemd || true)
    [ -z "$init" ] || ! inside systemctl is-system-running 2>/dev/null | grep -qE 'running|degraded' || return 0
  done
  [ -z "$init" ] || kill -KILL "$init"
  wait "$container" || true
  init='' container=''
  tail -n 2 "$work/boot" >&2
  return 1
}
if boot; then
  step 'systemd has booted'
  how='booted by systemd-nspawn'
  fetch() { inside curl "$@"; }
  port=4664
else
  how='not booted, entered by chroot'
  mount -t proc proc "$root/proc"
  port=$(bun -e 'const s = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } })
console.log(s.port); s.stop()')
  fetch() { curl "$@"; }
fi
origin=http://127.0.0.1:$port

ready() {
  inside cf healthcheck --wait 60s && return
  if [ -n "$init" ]; then inside journalctl --unit counterfoil --lines 30 >&2; else cat "$work/log" >&2; fi
  fail 'the service is not ready'
}
start() {
  if [ -n "$init" ]; then inside systemctl start counterfoil
  else
    chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin cf serve >"$work/log" 2>&1 &
    server=$!
  fi
  ready
}
stop() {
  if [ -n "$init" ]; then inside systemctl stop counterfoil
  else
    kill "$server"
    wait "$server" || true
    server=
  fi
}
owned() { # mode:user:group path
  local is
  is=$(inside stat -c %a:%U:%G "$2")
  [ "$is" = "$1" ] || fail "$2 is $is, not $1"
}

cp "$deb" "$root/srv/first.deb"
inside dpkg --install /srv/first.deb >"$work/dpkg" 2>&1 || { cat "$work/dpkg" >&2; fail install; }
owned 640:root:counterfoil /etc/counterfoil/counterfoil.toml
owned 750:root:counterfoil /etc/counterfoil
owned 700:counterfoil:counterfoil /var/lib/counterfoil
[ -z "$(inside dpkg --verify counterfoil)" ] || fail 'dpkg --verify finds changed files'
step installed
if [ -n "$init" ]; then
  ready
  step 'systemd started it with the settings of the package'
  main=$(inside systemctl show --property MainPID --value counterfoil)
  inside systemctl kill --kill-whom=main --signal=KILL counterfoil
  sleep 2
  ready
  [ "$(inside systemctl show --property MainPID --value counterfoil)" != "$main" ] || fail 'the same process'
  step 'killed, and started again by systemd'
  stop
fi

# A change that an upgrade must keep.
sed -i "1i listen = \"127.0.0.1:$port\"" "$root/etc/counterfoil/counterfoil.toml"
start
step 'the service is ready'
account=0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266
inside cf grant "$account" 1.00 --reason 'a try' >/dev/null
key=$(inside cf key create --account "$account" --cap 0.50 --json | grep -o '"secret":"[^"]*"' | cut -d'"' -f4)
receipt=$(fetch -sS "$origin/v1/chat/completions" -H "authorization: Bearer $key" \
  -H 'content-type: application/json' -o /dev/null -w '%header{x-receipt-id}' \
  -d '{"model": "counterfoil/echo-1", "messages": [{"role": "user", "content": "Hello."}]}')
ask() { fetch -sS --fail "$origin/v1/$1" -H "authorization: Bearer $key"; }
sleep 1
ask "receipts/$receipt" >"$root/srv/receipt.json"
chmod 644 "$root/srv/receipt.json"
signer=$(ask signer | grep -o '0x[0-9a-fA-F]\{40\}' | head -n 1)
inside counterfoil verify /srv/receipt.json --signer "$signer" >"$work/checks"
grep '^Signed and logged' "$work/checks" || fail 'the receipt is not valid'
step 'a receipt is verified'
if [ -n "$init" ]; then
  inside systemctl start counterfoil-backup
  backup=$(inside sh -c 'ls /var/backups/counterfoil/*.db') || fail 'the timer’s service wrote no backup'
  inside runuser -u counterfoil -- env COUNTERFOIL_DATA=/tmp/restored counterfoil restore "$backup" >/dev/null ||
    fail "$backup is not restored"
  step 'the backup of the timer is restored elsewhere'
fi
stop

dpkg-deb --raw-extract "$deb" "$work/next"
sed -i 's/^Version: .*/&+next/' "$work/next/DEBIAN/control"
dpkg-deb --root-owner-group -Znone --build "$work/next" "$root/srv/next.deb" >/dev/null
inside dpkg --install /srv/next.deb >"$work/dpkg" 2>&1 || { cat "$work/dpkg" >&2; fail upgrade; }
owned 640:root:counterfoil /etc/counterfoil/counterfoil.toml
start
[ "$(ask signer | grep -o '0x[0-9a-fA-F]\{40\}' | head -n 1)" = "$signer" ] || fail 'another signer'
ask "receipts/$receipt" | cmp - "$root/srv/receipt.json" || fail 'the receipt changed'
step 'upgraded: settings, key and receipt are the same'
stop

inside dpkg --remove counterfoil >/dev/null 2>&1
[ ! -e "$root/usr/bin/counterfoil" ] || fail 'a removal leaves the executable'
[ -f "$root/etc/counterfoil/counterfoil.toml" ] || fail 'a removal takes the configuration'
inside dpkg --purge counterfoil >"$work/purge" 2>&1
[ ! -e "$root/etc/counterfoil" ] || fail 'a purge leaves the configuration'
[ -f "$root/var/lib/counterfoil/signer.key" ] || fail 'a purge takes the data'
grep '/var/lib/counterfoil is kept' "$work/purge" || fail 'a purge does not say what it keeps'
step "removed and purged; $how"
