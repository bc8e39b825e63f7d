#!/usr/bin/env bash
# scripts/release/try-image.sh <image.oci.tar>: checks an image with Debian's skopeo and umoci, then
# starts it read-only, without capabilities, as its own user, with only /data and /tmp to write to. By
# podman where containers can run, else unpacked and by bubblewrap, which the last line says.
set -euo pipefail
image=$(realpath "${1:?an image}")
work=$(mktemp -d)
server=
finish() {
  # bubblewrap ends with the process that started it.
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  rm -rf "$work"
}
trap finish EXIT
fail() { echo "FAILED: $1" >&2; exit 1; }
for tool in skopeo umoci bwrap; do
  command -v "$tool" >/dev/null || fail "$tool is missing: apt-get install skopeo umoci bubblewrap"
done
began=$(date +%s)
mkdir "$work/layout"
tar -xf "$image" -C "$work/layout"
skopeo inspect "oci:$work/layout" >/dev/null
skopeo inspect "docker-archive:$image" >/dev/null
tag=$(grep -o '"org.opencontainers.image.ref.name":"[^"]*"' "$work/layout/index.json" | cut -d'"' -f4)
umoci unpack --rootless --image "$work/layout:$tag" "$work/bundle"
root=$work/bundle/rootfs
[ -z "$(find "$root" -name '*sh' -type f -perm -1)" ] || fail 'there is a shell in it'
echo "$(($(date +%s) - began)) s: skopeo and umoci read it"

port=$(bun -e 'const s = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } })
console.log(s.port); s.stop()')
origin=http://127.0.0.1:$port
settings=(COUNTERFOIL_LISTEN="127.0.0.1:$port" COUNTERFOIL_DATA=/data)
mkdir -m 700 "$work/data"
chown 65532:65532 "$work/data"
chmod 755 "$work" "$work/bundle"

by=podman
inside() {
  if [ "$by" = podman ]; then
    podman run --rm --network host --read-only --tmpfs /tmp:exec --cap-drop ALL \
      --security-opt no-new-privileges -v "$work/data:/data" "${settings[@]/#/--env=}" \
      --rootfs "$root" /usr/local/bin/counterfoil "$@"
    return
  fi
  setpriv --reuid 65532 --regid 65532 --clear-groups --no-new-privs --inh-caps=-all \
    bwrap --unshare-user --unshare-pid --unshare-ipc --die-with-parent --new-session --clearenv \
    "${bound[@]}" --ro-bind "$root" / --bind "$work/data" /data --tmpfs /tmp --proc /proc \
    --dev /dev --chdir /data \
    -- /usr/local/bin/counterfoil "$@"
}
bound=()
for one in "${settings[@]}"; do bound+=(--setenv "${one%%=*}" "${one#*=}"); done
inside version >/dev/null 2>&1 || by=bubblewrap
inside version --json

# The public test account, whose wallet everyone has, as serve --dev uses it.
inside serve --dev --data /data >"$work/key" 2>"$work/log" &
server=$!
inside healthcheck --wait 60s || { cat "$work/log" >&2; fail 'it is not ready'; }
key=$(grep -o 'sk-service-[A-Za-z0-9_-]*' "$work/key" | head -n 1)
receipt=$(curl -sS "$origin/v1/chat/completions" -H "authorization: Bearer $key" \
  -H 'content-type: application/json' -o /dev/null -w '%header{x-receipt-id}' \
  -d '{"model": "counterfoil/echo-1", "messages": [{"role": "user", "content": "Hello."}]}')
sleep 1
curl -sS --fail "$origin/v1/receipts/$receipt" -H "authorization: Bearer $key" >"$work/data/receipt.json"
chmod 644 "$work/data/receipt.json"
signer=$(curl -sS "$origin/v1/signer" | grep -o '0x[0-9a-fA-F]\{40\}' | head -n 1)
inside verify /data/receipt.json --signer "$signer" | grep '^Signed and logged'
owner=$(stat -c %u "$work/data/counterfoil.db")
[ "$owner" = 65532 ] || fail "its database belongs to $owner"
echo "$(($(date +%s) - began)) s: a receipt is verified; read-only, as 65532, by $by"
