#!/usr/bin/env bash
# scripts/readme.sh [executable]: runs the README's sixty seconds in an empty folder, and fails when a
# step does not end as the README says. The official client comes from this project's packages.
set -euo pipefail
cd "$(dirname "$0")/.."
binary=$(realpath "${1:-dist/counterfoil}")
readme=$(realpath README.md)
[ -x "$binary" ] || { echo "no executable at $binary: bun run build" >&2; exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/here"
ln -s "$PWD/node_modules" "$work/here/node_modules"
ln -s "$binary" "$work/bin/counterfoil"

# The fenced blocks that follow the marker.
awk '/^<!-- ci: 60 seconds -->$/ { marked = 1; next }
  marked && /^```/ { if (inside) marked = 0; inside = !inside; next }
  inside { print }' "$readme" >"$work/block.sh"
[ -s "$work/block.sh" ] || { echo 'README.md has no block marked "ci: 60 seconds"' >&2; exit 1; }

# What the block leaves running ends with it.
{
  echo 'set -euo pipefail'
  echo 'trap '\''status=$?; kill $(jobs -p) 2>/dev/null && wait || true; exit $status'\'' EXIT'
  cat "$work/block.sh"
} >"$work/run.sh"

fail() {
  echo "README: $1" >&2
  sed 's/^/  | /' "$work/said" >&2
  exit 1
}
started=$(date +%s)
(
  cd "$work/here"
  env -i HOME="$work/here" TMPDIR="$work" PATH="$work/bin:$PATH" \
    timeout --kill-after=5 60 bash "$work/run.sh"
) >"$work/said" 2>&1 </dev/null || fail "the block ended with $?"

says() { grep -q "$1" "$work/said" || fail "nothing said: $1"; }
says '^Every run leaves a receipt\. http://localhost:4663/v1/receipts/rcpt_'
says '^Signed and logged\. Signed by 0x'
says '^✗ '
says '^Not valid\.'
says '^the forgery was found$'
[ "$(grep -c '^Signed and logged\. Signed by 0x' "$work/said")" -eq 1 ] || fail 'the forgery passed too'
cd "$work/here"
! cmp -s receipt.json forged.json || fail 'the forgery is the same file'
echo "the README's block ran as it says, in $(($(date +%s) - started)) s"
