#!/bin/sh
# bun run test [files]: sets up, then runs every test this machine can run.
# bun run test:fast: SQLite and this process alone: no executable, chain, server or browser.
# bun run test:all: the nightly tier: all engines, all looks, longer fuzzing, more rounds and seeds.
# Then prints the ten slowest files, what was left out and how to install it, and as the last line
# 'N passed, N failed', taken from the summaries of bun test.
set -u
cd "$(dirname "$0")/.." || exit 1

is_fast=
if [ "${1:-}" = --fast ]; then
  is_fast=1
  shift
  unset TEST_DATABASE_URL
  export TEST_ENGINES=sqlite
fi

# A fresh checkout needs no other command: the packages, then the executable its tests start.
bun install --frozen-lockfile || exit 1
if [ -z "$is_fast" ]; then
  if [ ! -x dist/counterfoil ] || [ -n "$(find src drizzle public package.json -newer dist/counterfoil)" ]; then
    bun run build || exit 1
  fi
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Many files wait for a clock or for another process: three at once keep two cores busy.
workers=3
# Workers share modules between their files: evaluating them again costs a second a file.
parallel="--parallel=$workers --no-isolate"

run_tests() { # name, arguments: the log and the times in files of that name, the status in $rc
  name=$1
  shift
  {
    bun test --timeout 60000 --timings "$work/$name.json" --update-timings "$@" 2>&1
    echo $? >"$work/status"
  } | tee "$work/$name.log"
  rc=$(cat "$work/status")
  # The part before the summary, which names failures again.
  awk '/^[0-9]+ tests failed:/ || /^Ran [0-9]+ tests/ { exit } { print }' "$work/$name.log" \
    >"$work/$name.results"
}
count() { sed -n "s/^ *\([0-9][0-9]*\) $2\$/\1/p" "$work/$1.log" | tail -n 1; }

# Files that start no process, by what they import and call.
in_process() {
  find test -name '*.test.ts*' ! -path 'test/browser/*' -exec \
    grep -LE "Bun\.spawn\(|/(anvil|binary|chromium|own-postgres|served)\.ts'" {} + | sed 's|^|./|'
}

# shellcheck disable=SC2046,SC2086 # one argument a file, and several flags
if [ $# -gt 0 ]; then
  run_tests first "$@"
elif [ -n "$is_fast" ]; then
  run_tests first $parallel $(in_process)
else
  run_tests first $parallel
fi
passed=$(count first pass)
failed=$(count first fail)
# Without a summary a test ended the whole run, even if with status 0: that is not zero failures.
broken=
if [ -z "$passed" ] || [ -z "$failed" ]; then broken=1; fi
passed=${passed:-0}
failed=${failed:-0}

# Repeats the last 40 lines up to each failure, for readers who open the end of a long log alone.
# Files that run at once take turns in the log, each test with all it printed under its file's name.
awk '
  /^\(pass\)/ || /^test\/.*:$/ { n = 0; next }
  { lines[n++] = $0 }
  /^\(fail\)/ || /^✗ / { print "-- " $0; for (i = n > 40 ? n - 40 : 0; i < n - 1; i++) print lines[i]; n = 0 }' \
  "$work/first.results"

# Tests that wait for other processes (a browser, executables, a chain) may lose a race that a loaded
# machine made: a few of those files get a second try, and it is said. Nothing else does: what fails
# once in a thousand about money has to be seen. A file that ended its worker (✗) gets none either.
waiting='^test/\(binary\|browser\|clients\|contracts\|billing/deposits\|front/mcp\|proof/\(anchors\|chain\)\)/'
if [ "$failed" -gt 0 ] && [ -z "$broken" ] && ! grep -q '^✗ ' "$work/first.results"; then
  files=$(awk '/^test\/.*:$/ { file = substr($0, 1, length($0) - 1) } /^\(fail\)/ { print file }' \
    "$work/first.results" | sort -u)
  if [ "$(echo "$files" | wc -l)" -le 4 ] && ! echo "$files" | grep -qv "$waiting"; then
    echo "== once more: $(echo "$files" | tr '\n' ' ')"
    # shellcheck disable=SC2086 # one argument a file
    run_tests again $files
    if [ "$rc" -eq 0 ] && [ "$(count again fail)" = 0 ]; then
      printf 'unsteady: failed once, passed alone: %s\n' "$(echo "$files" | tr '\n' ' ')"
      passed=$((passed + failed))
      failed=0
    fi
  fi
fi

if [ $# -eq 0 ]; then
  echo 'the ten slowest files, in seconds:'
  sed -n 's|^ *"\(test/[^"]*\)": \([0-9]*\).*|\2 \1|p' "$work/first.json" | sort -rn | head -n 10 |
    awk '{ printf "%7.1f  %s\n", $1 / 1000, $2 }'
fi

left_out() { printf 'left out: %s\n          %s\n' "$1" "$2"; }
if [ -n "$is_fast" ]; then
  left_out 'PostgreSQL, executables, chains and browsers' 'bun run test'
else
  [ -n "${TEST_DATABASE_URL:-}" ] || left_out 'a real PostgreSQL server (PGlite stands in for it)' \
    'apt-get install postgresql, then TEST_DATABASE_URL=postgres://user@127.0.0.1/empty_database'
  [ -n "${VECTORS_DIR:-}" ] || left_out 'the published test vectors' \
    'VECTORS_DIR=<folder with c2sp, eip712, jcs, rfc6962 and siwe>'
  [ -x /usr/sbin/pgbouncer ] || left_out 'nodes behind PgBouncer' 'apt-get install pgbouncer'
  command -v faketime >/dev/null || left_out 'executables with a wrong clock' 'apt-get install faketime'
  [ -x /usr/sbin/haproxy ] && [ -x /usr/sbin/nginx ] || left_out 'configurations of haproxy and nginx' \
    'apt-get install haproxy nginx'
  command -v openssl >/dev/null || left_out 'model servers over TLS' 'apt-get install openssl'
  [ -d /usr/share/gocode/src/golang.org/x/mod/sumdb/tlog ] && command -v go >/dev/null ||
    left_out 'a log that a program in Go reads (nightly)' 'apt-get install golang-go golang-golang-x-mod-dev'
  for tool in minisign lintian skopeo mandoc zsh fish; do
    command -v "$tool" >/dev/null || left_out "what $tool says of a release" "apt-get install $tool"
  done
  if [ "${TEST_TIER:-}" = nightly ] && [ -z "${DEBIAN_ROOT:-}" ]; then
    left_out 'the Debian package in a Debian of its own' \
      'DEBIAN_ROOT=<made by debootstrap --variant=minbase --include=adduser,libstdc++6,systemd,systemd-sysv,dbus,curl>'
  fi
  command -v systemd-analyze >/dev/null || left_out "the check of systemd's unit" 'apt-get install systemd'
  [ -x "${CHROMIUM:-/usr/bin/chromium-headless-shell}" ] || [ -x "${CHROMIUM:-/usr/bin/chromium}" ] ||
    left_out 'pages in a real browser' 'apt-get install chromium-headless-shell'
  [ "${TEST_TIER:-}" = nightly ] || left_out 'the nightly tier: more rounds, seeds, looks and engines, and agents of the terminal' \
    'bun run test:all'
fi

# Something broke outside of a test.
[ -z "$broken" ] || rc=1
if [ "$rc" -ne 0 ] && [ "$failed" -eq 0 ]; then failed=1; fi
echo "$passed passed, $failed failed"
[ "$rc" -eq 0 ] && [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
