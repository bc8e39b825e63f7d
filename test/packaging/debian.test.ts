import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  architectureOf,
  controlOf,
  debianVersion,
  writeDebian,
} from '../../scripts/release/debian.ts'
import { promise } from '../support/promise.ts'

const folder = mkdtempSync(join(tmpdir(), 'counterfoil-deb-test-'))
afterAll(() => rmSync(folder, { recursive: true }))

const said = (...command: string[]): string => {
  const done = Bun.spawnSync(command, { stderr: 'pipe' })
  expect(done.exitCode).toBe(0)
  return done.stdout.toString()
}

describe('the Debian package', () => {
  test('sorts a version before its release, as Debian compares them', () => {
    expect(debianVersion('1.2.3')).toBe('1.2.3-1')
    expect(debianVersion('1.2.3-rc.1')).toBe('1.2.3~rc.1-1')
  })

  test('is made for the two architectures that Debian and the releases have', () => {
    expect(architectureOf('linux-x64')).toBe('amd64')
    expect(architectureOf('linux-arm64')).toBe('arm64')
    expect(architectureOf('linux-x64-modern')).toBeUndefined()
    const facts = { version: '1.2.3', maintainer: 'A <a@b.example>', architecture: 'amd64' }
    expect(controlOf({ ...facts, bytes: 1025 })).toContain('Installed-Size: 2\n')
  })

  test.each(['postinst', 'prerm', 'postrm'])(
    '%s is a script that sh reads and set -e ends',
    async (name) => {
      const file = `packaging/debian/${name}`
      said('sh', '-n', file)
      expect(await Bun.file(file).text()).toContain('\nset -e\n')
    },
  )

  promise`L14 H: No package that is removed or purged takes the ledger or the key of the receipts
    along.`
  test('never deletes what is in the data folder', async () => {
    const postrm = await Bun.file('packaging/debian/postrm').text()
    expect(postrm.match(/^\s*rm .*/gm)).toEqual(['  rm -f /etc/counterfoil/counterfoil.env'])
  })
})

// A small program in place of the executable: dpkg-deb compresses that for ten seconds.
const program = '/bin/true'

describe.skipIf(!Bun.which('dpkg-deb'))('a built Debian package', () => {
  const making = {
    version: '1.2.3',
    mtime: 1_700_000_000,
    maintainer: 'Counterfoil maintainers <maintainers@example.org>',
  }

  test('has the same bytes each time, its service at its place, and root as the owner', async () => {
    const name = await writeDebian(making, 'linux-x64', program, join(folder, 'one'))
    await writeDebian(making, 'linux-x64', program, join(folder, 'two'))
    said('cmp', join(folder, 'one', name), join(folder, 'two', name))
    const list = said('dpkg-deb', '--contents', join(folder, 'one', name))
    expect(list).toContain('/lib/systemd/system/counterfoil.service')
    expect(list).not.toMatch(/^\S+ (?!root\/root)/m)
    const unit = said(
      'sh',
      '-c',
      `dpkg-deb --fsys-tarfile ${join(folder, 'one', name)} |
      tar -xO ./lib/systemd/system/counterfoil.service`,
    )
    expect(unit).toContain('ExecStart=/usr/bin/counterfoil serve')
    expect(unit).not.toContain('/usr/local')
  })

  test.skipIf(!Bun.which('lintian'))(
    'passes lintian without an error',
    async () => {
      const name = await writeDebian(making, 'linux-x64', program, join(folder, 'lint'))
      const lint = ['lintian', '--allow-root', '--fail-on', 'error', join(folder, 'lint', name)]
      const done = Bun.spawnSync(lint)
      expect(done.stdout.toString()).toBe('')
      expect(done.exitCode).toBe(0)
    },
    300_000,
  )
})
