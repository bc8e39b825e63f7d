import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import packageJson from '../../package.json'
import { cutChangelog, notesOf } from '../../scripts/release/notes.ts'
import { sha256Of, sign, signatureFile, sumsOf, writeSums } from '../../scripts/release/sums.ts'
import { foldersOf, tarGzOf, tarOf } from '../../scripts/release/tar.ts'
import { promise } from '../support/promise.ts'

const folder = mkdtempSync(join(tmpdir(), 'counterfoil-release-'))
afterAll(() => rmSync(folder, { recursive: true }))

const run = (command: string[], cwd = folder) => {
  const done = Bun.spawnSync(command, { cwd, env: { ...process.env, TZ: 'UTC', LC_ALL: 'C' } })
  return { code: done.exitCode, said: done.stdout.toString() + done.stderr.toString() }
}

const bytes = (text: string) => new TextEncoder().encode(text)
const mtime = Date.UTC(2026, 10, 23, 12) / 1000
const entries = [
  { path: 'top/b', mode: 0o755, body: bytes('program') },
  { path: 'top/link', mode: 0o777, link: 'b' },
  { path: 'top/', mode: 0o700, uid: 65532, gid: 65532 },
  { path: `top/${'deep/'.repeat(20)}file`, mode: 0o600, body: new Uint8Array(1025).fill(7) },
]

describe('an archive of a release', () => {
  test('is read by GNU tar with the owners, modes, links and times it was given', async () => {
    await Bun.write(join(folder, 'a.tar.gz'), tarGzOf(entries, mtime))
    const { code, said } = run(['tar', '--numeric-owner', '-tvzf', 'a.tar.gz'])
    expect(code).toBe(0)
    const lines = said.trim().split('\n')
    expect(lines.map((line) => line.replace(/\s+/g, ' '))).toEqual([
      'drwx------ 65532/65532 0 2026-11-23 12:00 top/',
      '-rwxr-xr-x 0/0 7 2026-11-23 12:00 top/b',
      `-rw------- 0/0 1025 2026-11-23 12:00 top/${'deep/'.repeat(20)}file`,
      'lrwxrwxrwx 0/0 0 2026-11-23 12:00 top/link -> b',
    ])
    expect(run(['tar', '-xOzf', 'a.tar.gz', 'top/b']).said).toBe('program')
  })

  promise`L9 H: The same commit gives the same release, byte by byte, in any folder.`
  test('is the same bytes in any order of its entries', () => {
    const one = tarGzOf(entries, mtime)
    expect(tarGzOf([...entries].reverse(), mtime)).toEqual(one)
    expect(tarGzOf(entries, mtime + 1)).not.toEqual(one)
    // No name and no time in the header of gzip.
    expect([...one.slice(3, 8)]).toEqual([0, 0, 0, 0, 0])
  })

  test('refuses a name that does not fit, in place of cutting it', () => {
    expect(() => tarOf([{ path: 'x'.repeat(101), mode: 0o644 }], mtime)).toThrow('too long for tar')
    const link = 'x'.repeat(101)
    expect(() => tarOf([{ path: 'a', mode: 0o777, link }], mtime)).toThrow('its link is too long')
  })

  test('has every folder above a file', () => {
    expect(foldersOf('usr/lib/file').map(({ path }) => path)).toEqual(['usr/', 'usr/lib/'])
  })
})

describe('the sums of a release', () => {
  test('stand in the order of names, not in that of the folder', () => {
    const sums = new Map([
      ['b', '2'],
      ['B', '1'],
      ['a', '0'],
    ])
    expect(sumsOf(sums)).toBe('1  B\n0  a\n2  b\n')
  })

  promise`L13 H: A changed download is found, and so is a changed list of sums.`
  test('are checked by sha256sum, which finds one changed byte and names the file', async () => {
    const at = mkdtempSync(join(folder, 'sums-'))
    writeFileSync(join(at, 'one.tar.gz'), 'one')
    writeFileSync(join(at, 'two.tar.gz'), 'two')
    await writeSums(at)
    const check = ['sha256sum', '--check', '--ignore-missing', 'SHA256SUMS']
    expect(run(check, at)).toEqual({ code: 0, said: 'one.tar.gz: OK\ntwo.tar.gz: OK\n' })
    expect(await sha256Of(join(at, 'one.tar.gz'))).toHaveLength(64)
    writeFileSync(join(at, 'two.tar.gz'), 'twp')
    const { code, said } = run(check, at)
    expect(code).toBe(1)
    expect(said).toContain('two.tar.gz: FAILED')
  })

  promise`L13`
  test.skipIf(!Bun.which('minisign'))(
    'are signed by a key that stays where it is, and a changed sum has no valid signature',
    async () => {
      const at = mkdtempSync(join(folder, 'signed-'))
      const [secret, open] = [join(folder, 'release.key'), join(folder, 'release.pub')]
      expect(run(['minisign', '-G', '-W', '-s', secret, '-p', open]).code).toBe(0)
      writeFileSync(join(at, 'one.tar.gz'), 'one')
      await writeSums(at)
      await sign(at, secret, 'counterfoil 1.2.3')
      const verify = ['minisign', '-V', '-p', open, '-m', 'SHA256SUMS']
      expect(run(verify, at).said).toContain('counterfoil 1.2.3')
      // A signature does not become a line of what it signs.
      await writeSums(at)
      expect(run(verify, at).code).toBe(0)
      expect(await Bun.file(join(at, signatureFile)).exists()).toBe(true)
      writeFileSync(join(at, 'SHA256SUMS'), sumsOf(new Map([['one.tar.gz', '0'.repeat(64)]])))
      expect(run(verify, at).code).not.toBe(0)
    },
  )
})

const changelog = `# Changelog

## [Unreleased]

### Added
- What comes.

## [1.2.3] - 2026-11-22

### Added
- A first line,
  with a second.

## [1.2.2] - 2026-11-21
- Older.
`

describe('the notes of a release', () => {
  test('are its part of the changelog; the unreleased one before there is any', () => {
    expect(cutChangelog(changelog, '1.2.4')).toBe('### Added\n- What comes.')
    const released = changelog.replace('### Added\n- What comes.\n', '')
    expect(cutChangelog(released, '1.2.3')).toBe('### Added\n- A first line,\n  with a second.')
    expect(() => cutChangelog(released, '2.0.0')).toThrow('has nothing about 2.0.0')
  })

  test('say by name what was not built, what was not run, and which curve signs', () => {
    const notes = notesOf(changelog, {
      version: '1.2.3',
      commit: 'c0ffee',
      bun: '1.4.5',
      outcomes: [
        { platform: 'linux-x64', built: true, bytes: 1e8, ran: { how: 'yes', curve: 'native' } },
        {
          platform: 'darwin-x64',
          built: true,
          bytes: 1e8,
          ran: { not: 'no machine of that kind' },
        },
        { platform: 'windows-x64', built: false, why: 'the runtime cannot be had' },
      ],
      made: ['npm: counterfoil'],
      missing: ['Debian package: dpkg-deb is missing'],
      isSigned: false,
    })
    expect(notes).toContain('| linux-x64 | 100 MB | yes | native |')
    expect(notes).toContain('| darwin-x64 | 100 MB | no: no machine of that kind |  |')
    expect(notes).toContain('| windows-x64 | not built: the runtime cannot be had | no |  |')
    expect(notes).toContain('- Debian package: dpkg-deb is missing')
    expect(notes).toContain('SHA256SUMS is not signed')
  })

  test('can be made of the changelog of this project', () => {
    const changes = cutChangelog(readChangelog, packageJson.version)
    expect(changes).toContain('### ')
    expect(changes).not.toContain('\n## ')
  })
})
const readChangelog = await Bun.file('CHANGELOG.md').text()
