import { chmodSync, cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Where a service of the system has its files. */
const places = ['/etc/', '/usr/local/', '/var/lib/', '/var/backups/']

/** A text that names places of the system, with a folder in place of the system. */
export const onMachine = (root: string, text: string): string =>
  places.reduce((all, place) => all.replaceAll(place, `${root}${place}`), text)

/**
 * A folder that stands for a machine: what only root and systemd can do is stood in for, and all
 * else is what the pages name. `systemctl` runs what the units say.
 */
export function makeMachine(root: string, binary: string) {
  const project = join(root, 'project')
  const standIns = join(root, 'stand-ins')
  for (const path of ['etc/systemd/system', 'usr/local/bin', 'usr/local/sbin', 'project/dist']) {
    mkdirSync(join(root, path), { recursive: true })
  }
  mkdirSync(standIns)
  symlinkSync(binary, join(project, 'dist', 'counterfoil'))
  cpSync('packaging', join(project, 'packaging'), { recursive: true })
  for (const name of packaged) {
    const file = join(project, 'packaging', name)
    writeFileSync(file, onMachine(root, readFileSync(file, 'utf8')))
  }
  for (const [name, text] of Object.entries(programs)) {
    const file = join(standIns, name)
    writeFileSync(file, `#!/bin/bash\nset -eu\nroot=${root}\n${text}`)
    chmodSync(file, 0o755)
  }
  const path = [standIns, join(root, 'usr/local/sbin'), join(root, 'usr/local/bin')]
  const env: Record<string, string> = { PATH: path.join(':'), HOME: root }
  return { env, project }
}

const packaged = [
  'cf',
  'counterfoil.service',
  'counterfoil-backup.service',
  'counterfoil-backup.timer',
]

const nothing = 'true'

/** Of a unit, what a line of it says; systemd writes `%` and `$` twice. */
const readUnit = `value() { sed -n "s/^$2=-\\?//p" "$1" | sed 's/%%/%/g; s/\\$\\$/$/g'; }`

const programs = {
  useradd: nothing,
  chgrp: nothing,
  // Owner and group of a file need root and the user that useradd would have made.
  install: `args=()
while [ $# -gt 0 ]; do
  case $1 in -o | -g) shift 2 ;; *) args+=("$1"); shift ;; esac
done
exec /usr/bin/install "\${args[@]}"`,
  runuser: `[ "$1 $2 $3" = '-u counterfoil --' ]
shift 3
exec "$@"`,
  systemctl: `${readUnit}
pid=$root/pid
stop() {
  [ -f $pid ] || return 0
  kill "$(cat $pid)"
  while kill -0 "$(cat $pid)" 2>/dev/null; do sleep 0.05; done
  rm $pid
}
start() {
  unit=$root/etc/systemd/system/counterfoil.service
  cd "$(value $unit WorkingDirectory)"
  setsid $(value $unit ExecStart) >>$root/journal 2>&1 </dev/null &
  echo $! >$pid
}
case "$*" in
  daemon-reload | 'enable --now counterfoil-backup.timer') ;;
  'enable --now counterfoil' | 'start counterfoil') start ;;
  'stop counterfoil') stop ;;
  'restart counterfoil') stop; start ;;
  'reload counterfoil') kill -HUP "$(cat $pid)" ;;
  'start counterfoil-backup.service')
    unit=$root/etc/systemd/system/counterfoil-backup.service
    cd "$(value $unit WorkingDirectory)"
    while read -r line; do export "$line"; done < <(value $unit Environment)
    eval "$(value $unit ExecStart)"
    eval "$(value $unit ExecStartPost)" ;;
  *) echo "systemctl $* is not known here" >&2; exit 1 ;;
esac`,
}
