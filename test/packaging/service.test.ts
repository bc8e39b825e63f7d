import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const unit = readFileSync('packaging/counterfoil.service', 'utf8')
const noSystemd = Bun.which('systemd-analyze') === null
const folder = mkdtempSync(join(tmpdir(), 'counterfoil-unit-'))
afterAll(() => rmSync(folder, { recursive: true }))

const settings = new Map(
  unit
    .split('\n')
    .filter((line) => /^[A-Z]\w+=/.test(line))
    .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
)

describe('the unit of systemd', () => {
  test('runs as a user of its own that can write its state and nothing else', () => {
    expect(Object.fromEntries(settings)).toMatchObject({
      User: 'counterfoil',
      ProtectSystem: 'strict',
      ReadWritePaths: '/var/lib/counterfoil',
      StateDirectoryMode: '0700',
      UMask: '0077',
      NoNewPrivileges: 'true',
      CapabilityBoundingSet: '',
      MemoryMax: expect.any(String),
    })
    // The engine compiles while it runs: this would kill it.
    expect(settings.has('MemoryDenyWriteExecute')).toBe(false)
  })

  test('waits longer for the end than the server may take, and tries no wrong configuration again', () => {
    // 25 s of grace, 5 s to settle, and the rest to close.
    expect(Number(settings.get('TimeoutStopSec'))).toBeGreaterThanOrEqual(35)
    expect(settings.get('RestartPreventExitStatus')).toBe('78')
    expect(settings.get('ExecReload')).toBe('/bin/kill -HUP $MAINPID')
  })

  test('starts after the clock is set and after a database of the machine, and is never given up', () => {
    const after = settings.get('After')?.split(' ')
    expect(after).toEqual(['network-online.target', 'time-sync.target', 'postgresql.service'])
    expect(settings.get('Wants')?.split(' ')).toContain('time-sync.target')
    expect(settings.get('StartLimitIntervalSec')).toBe('0')
  })

  test.skipIf(noSystemd)(
    'has no fault that systemd-analyze finds, nor have those of the backup',
    () => {
      // Neither the executable nor the user is on this machine.
      const names = [
        'counterfoil.service',
        'counterfoil-backup.service',
        'counterfoil-backup.timer',
      ]
      const files = names.map((name) => {
        const known = readFileSync(`packaging/${name}`, 'utf8')
          .replaceAll('/usr/local/bin/counterfoil', '/bin/true')
          .replaceAll(/^(User|Group)=.*$/gm, '$1=root')
        writeFileSync(join(folder, name), known)
        return join(folder, name)
      })
      const done = Bun.spawnSync(['systemd-analyze', 'verify', '--man=no', ...files])
      const said = done.stderr.toString().split('\n')
      expect(said.filter((line) => line.includes('counterfoil'))).toEqual([])
      expect(done.exitCode).toBe(0)
    },
  )

  test('of the backup runs as the same user, and can write where backups are', () => {
    const backup = readFileSync('packaging/counterfoil-backup.service', 'utf8')
    expect(backup).toContain('User=counterfoil')
    expect(backup).toContain('ReadWritePaths=/var/lib/counterfoil /var/backups/counterfoil')
    expect(backup).toContain('UMask=0077')
  })
})

describe('the container', () => {
  const lines = readFileSync('Dockerfile', 'utf8').split('\n')
  const last = lines.slice(lines.findLastIndex((line) => line.startsWith('FROM ')))
  const ignored = readFileSync('.dockerignore', 'utf8').split('\n')

  test('has no shell, no root and a health check', () => {
    expect(last[0]).toBe('FROM scratch')
    expect(last.some((line) => line.startsWith('RUN'))).toBe(false)
    expect(last).toContain('USER 65532:65532')
    expect(last.find((line) => line.startsWith('HEALTHCHECK'))).toContain('"healthcheck"]')
  })

  test('is built with everything that the source imports from beside it', () => {
    for (const name of ['src', 'scripts', 'drizzle', 'public', 'contracts', 'package.json']) {
      expect(ignored).toContain(`!${name}`)
    }
    expect(lines.join('\n')).toContain(`bun@${Bun.version}`)
  })
})
