#!/bin/sh
# bun run test: sets up, runs all tests this machine can run, then what was left out and how to have it,
# then one plain line 'N passed, N failed' taken from bun test's own summary.
set -u
cd "$(dirname "$0")/.." || exit 1

# A fresh checkout needs no other command: the packages, then the executable its tests start.
bun install --frozen-lockfile || exit 1
if [ ! -x dist/counterfoil ] || [ -n "$(find src drizzle public package.json -newer dist/counterfoil)" ]; then
  bun run build || exit 1
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
{ bun test --timeout 30000 "$@" 2>&1; echo $? >"$work/status"; } | tee "$work/log"
rc=$(cat "$work/status")

# Whoever reads the end of a long log alone sees what went wrong: the last 40 lines up to each failure.
awk '/^Ran [0-9]+ tests/ { exit }
  /^[0-9]+ tests failed:/ { exit }
  /^\(pass\)/ || /^test\/.*:$/ { n = 0; next }
  { lines[n++] = $0 }
  /^\(fail\)/ { print "-- " $0; for (i = n > 40 ? n - 40 : 0; i < n - 1; i++) print lines[i]; n = 0 }
' "$work/log"

left_out() { printf 'left out: %s\n          %s\n' "$1" "$2"; }
[ -n "${TEST_DATABASE_URL:-}" ] || left_out 'a real PostgreSQL server (PGlite stands in for it)' \
  'apt-get install postgresql, then TEST_DATABASE_URL=postgres://user@127.0.0.1/empty_database'
[ -n "${VECTORS_DIR:-}" ] || left_out 'the published test vectors' \
  'VECTORS_DIR=<folder with c2sp, eip712, jcs, rfc6962 and siwe>'
[ -x "${CHROMIUM:-/usr/bin/chromium}" ] || left_out 'pages in a real browser' 'apt-get install chromium'

count() { sed -n "s/^ *\([0-9][0-9]*\) $1\$/\1/p" "$work/log" | tail -n 1; }
passed=$(count pass)
failed=$(count fail)
# Without a summary a test ended the process, even if with status 0: that is not zero failures.
if [ -z "$passed" ] || [ -z "$failed" ]; then rc=1; fi
passed=${passed:-0}
failed=${failed:-0}
# Something broke outside of a test.
if [ "$rc" -ne 0 ] && [ "$failed" -eq 0 ]; then failed=1; fi
echo "$passed passed, $failed failed"
[ "$rc" -eq 0 ] && [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
