#!/usr/bin/env bash
# scripts/release/try-debian.sh <package.deb> [root]: installs the package in a fresh Debian, starts the
# service, makes a run and verifies its receipt, upgrades over the data, removes and purges. `root` is a
# system that debootstrap made; without one it makes its own. The system is entered by chroot and not
# booted: the server is started by cf, with the user and settings of the unit. For root.
set -euo pipefail
deb=$(realpath "${1:?a package}")
work=$(mktemp -d)
root=${2:-$work/root}
server=
finish() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  umount "$root/proc" 2>/dev/null || true
  rm -rf "$work"
}
trap finish EXIT
step() { echo "$(($(date +%s) - began)) s: $1"; }
fail() { echo "FAILED: $1" >&2; exit 1; }
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C DEBIAN_FRONTEND=noninteractive "$@"; }

if [ ! -d "$root" ]; then
  command -v debootstrap >/dev/null || fail 'debootstrap is missing: apt-get install debootstrap'
  # shellcheck disable=SC1091
  suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
  debootstrap --variant=minbase --include=adduser,libstdc++6 "$suite" "$root" ${DEBIAN_MIRROR:-} >/dev/null
fi
mount -t proc proc "$root/proc"
port=$(bun -e 'const s = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } })
console.log(s.port); s.stop()')
origin=http://127.0.0.1:$port
began=$(date +%s)

start() {
  chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin cf serve >"$work/log" 2>&1 &
  server=$!
  inside cf healthcheck --wait 60s || { cat "$work/log" >&2; fail 'the service is not ready'; }
}
stop() {
  kill "$server"
  wait "$server" || true
  server=
}
owned() { # mode:user:group path
  local is
  is=$(inside stat -c %a:%U:%G "$2")
  [ "$is" = "$1" ] || fail "$2 is $is, not $1"
}

cp "$deb" "$root/tmp/first.deb"
inside dpkg --install /tmp/first.deb >"$work/dpkg" 2>&1 || { cat "$work/dpkg" >&2; fail install; }
owned 640:root:counterfoil /etc/counterfoil/counterfoil.toml
owned 750:root:counterfoil /etc/counterfoil
owned 700:counterfoil:counterfoil /var/lib/counterfoil
[ -z "$(inside dpkg --verify counterfoil)" ] || fail 'dpkg --verify finds changed files'
step installed

# A change that an upgrade must keep.
sed -i "1i listen = \"127.0.0.1:$port\"" "$root/etc/counterfoil/counterfoil.toml"
start
step 'the service is ready'
account=0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266
inside cf grant "$account" 1.00 --reason 'a try' >/dev/null
key=$(inside cf key create --account "$account" --cap 0.50 --json | grep -o '"secret":"[^"]*"' | cut -d'"' -f4)
receipt=$(curl -sS "$origin/v1/chat/completions" -H "authorization: Bearer $key" \
  -H 'content-type: application/json' -o /dev/null -w '%header{x-receipt-id}' \
  -d '{"model": "counterfoil/echo-1", "messages": [{"role": "user", "content": "Hello."}]}')
ask() { curl -sS --fail "$origin/v1/$1" -H "authorization: Bearer $key"; }
sleep 1
ask "receipts/$receipt" >"$root/tmp/receipt.json"
chmod 644 "$root/tmp/receipt.json"
signer=$(ask signer | grep -o '0x[0-9a-fA-F]\{40\}' | head -n 1)
inside counterfoil verify /tmp/receipt.json --signer "$signer" >"$work/checks"
grep '^Signed and logged' "$work/checks" || fail 'the receipt is not valid'
step 'a receipt is verified'
stop

dpkg-deb --raw-extract "$deb" "$work/next"
sed -i 's/^Version: .*/&+next/' "$work/next/DEBIAN/control"
dpkg-deb --root-owner-group -Znone --build "$work/next" "$root/tmp/next.deb" >/dev/null
inside dpkg --install /tmp/next.deb >"$work/dpkg" 2>&1 || { cat "$work/dpkg" >&2; fail upgrade; }
owned 640:root:counterfoil /etc/counterfoil/counterfoil.toml
start
[ "$(ask signer | grep -o '0x[0-9a-fA-F]\{40\}' | head -n 1)" = "$signer" ] || fail 'another signer'
ask "receipts/$receipt" | cmp - "$root/tmp/receipt.json" || fail 'the receipt changed'
step 'upgraded: settings, key and receipt are the same'
stop

inside dpkg --remove counterfoil >/dev/null 2>&1
[ ! -e "$root/usr/bin/counterfoil" ] || fail 'a removal leaves the executable'
[ -f "$root/etc/counterfoil/counterfoil.toml" ] || fail 'a removal takes the configuration'
inside dpkg --purge counterfoil >"$work/purge" 2>&1
[ ! -e "$root/etc/counterfoil" ] || fail 'a purge leaves the configuration'
[ -f "$root/var/lib/counterfoil/signer.key" ] || fail 'a purge takes the data'
grep '/var/lib/counterfoil is kept' "$work/purge" || fail 'a purge does not say what it keeps'
step 'removed and purged; not booted, entered by chroot'
