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

run_tests() { # log, arguments: status in $rc
  log=$1
  shift
  { bun test "$@" 2>&1; echo $? >"$work/status"; } | tee "$log"
  rc=$(cat "$work/status")
}
count() { sed -n "s/^ *\([0-9][0-9]*\) $2\$/\1/p" "$1" | tail -n 1; }
# The part of a log before its summary, which names the failures again.
results() { awk '/^[0-9]+ tests failed:/ || /^Ran [0-9]+ tests/ { exit } { print }' "$1"; }

if [ $# -gt 0 ] || [ ! -x "${CHROMIUM:-/usr/bin/chromium}" ]; then
  run_tests "$work/log" --timeout 30000 "$@"
  results "$work/log" >"$work/results"
  passed=$(count "$work/log" pass)
  failed=$(count "$work/log" fail)
else
  # What a browser shows is partly waited for, so two files of that run at once, and nothing beside
  # them: other tests look at the clock.
  run_tests "$work/log" --timeout 30000 --path-ignore-patterns 'test/browser/**'
  first=$rc
  run_tests "$work/browser" --timeout 60000 --parallel=2 test/browser/
  [ "$first" -eq 0 ] || rc=$first
  { results "$work/log"; results "$work/browser"; } >"$work/results"
  for part in pass fail; do
    one=$(count "$work/log" "$part") two=$(count "$work/browser" "$part")
    # Without both summaries there is none.
    eval "${part}ed=\${one:+\${two:+\$((one + two))}}"
  done
fi

# Whoever reads the end of a long log alone sees what went wrong: the last 40 lines up to each failure.
awk '
  /^\(pass\)/ || /^test\/.*:$/ { n = 0; next }
  { lines[n++] = $0 }
  /^\(fail\)/ { print "-- " $0; for (i = n > 40 ? n - 40 : 0; i < n - 1; i++) print lines[i]; n = 0 }' \
  "$work/results"

# Tests that wait for other processes (a browser, executables, a chain) may lose a race that a loaded
# machine made: a few of those files get a second try, and it is said. Nothing else does: what fails
# once in a thousand about money has to be seen.
waiting='^test/\(anchors\|binary\|browser\|chain\|clients\|contracts\|deposits\|mcp\)/'
if [ "${failed:-0}" -gt 0 ]; then
  files=$(awk '/^test\/.*:$/ { file = substr($0, 1, length($0) - 1) } /^\(fail\)/ { print file }' \
    "$work/results" | sort -u)
  if [ "$(echo "$files" | wc -l)" -le 4 ] && ! echo "$files" | grep -qv "$waiting"; then
    echo "== once more: $(echo "$files" | tr '\n' ' ')"
    # shellcheck disable=SC2086 # one argument a file
    run_tests "$work/again" --timeout 60000 $files
    if [ "$rc" -eq 0 ] && [ "$(count "$work/again" fail)" = 0 ]; then
      printf 'unsteady: failed once, passed alone: %s\n' "$(echo "$files" | tr '\n' ' ')"
      passed=$((passed + failed))
      failed=0
    fi
  fi
fi

left_out() { printf 'left out: %s\n          %s\n' "$1" "$2"; }
[ -n "${TEST_DATABASE_URL:-}" ] || left_out 'a real PostgreSQL server (PGlite stands in for it)' \
  'apt-get install postgresql, then TEST_DATABASE_URL=postgres://user@127.0.0.1/empty_database'
[ -n "${VECTORS_DIR:-}" ] || left_out 'the published test vectors' \
  'VECTORS_DIR=<folder with c2sp, eip712, jcs, rfc6962 and siwe>'
[ -x /usr/sbin/pgbouncer ] || left_out 'nodes behind PgBouncer' 'apt-get install pgbouncer'
command -v faketime >/dev/null || left_out 'executables with a wrong clock' 'apt-get install faketime'
command -v openssl >/dev/null || left_out 'model servers over TLS' 'apt-get install openssl'
command -v systemd-analyze >/dev/null || left_out "the check of systemd's unit" 'apt-get install systemd'
[ -x "${CHROMIUM:-/usr/bin/chromium}" ] || left_out 'pages in a real browser' 'apt-get install chromium'

# Without a summary a test ended the process, even if with status 0: that is not zero failures.
if [ -z "$passed" ] || [ -z "$failed" ]; then rc=1; fi
passed=${passed:-0}
failed=${failed:-0}
# Something broke outside of a test.
if [ "$rc" -ne 0 ] && [ "$failed" -eq 0 ]; then failed=1; fi
echo "$passed passed, $failed failed"
[ "$rc" -eq 0 ] && [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
