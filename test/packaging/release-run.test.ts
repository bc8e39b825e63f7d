import { afterAll, describe, expect, test } from 'bun:test'
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import packageJson from '../../package.json'
import { isNightly } from '../support/nightly.ts'
import { promise } from '../support/promise.ts'

const folder = mkdtempSync(join(tmpdir(), 'counterfoil-release-run-'))
afterAll(() => rmSync(folder, { recursive: true }))

const bun = process.execPath
// A commit that was given from outside would stand in the executables.
const { COUNTERFOIL_COMMIT: _, ...env } = process.env

async function run(command: string[], cwd: string) {
  const child = Bun.spawn(command, { cwd, env, stdout: 'pipe', stderr: 'pipe' })
  const [code, out, err] = await Promise.all([
    child.exited,
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { code, said: `${out}${err}` }
}

/** A clone of this commit with its packages. */
async function clone(name: string): Promise<string> {
  const at = join(folder, name)
  expect((await run(['git', 'clone', '--quiet', '.', at], process.cwd())).code).toBe(0)
  expect((await run([bun, 'install', '--frozen-lockfile'], at)).code).toBe(0)
  return at
}

const isRoot = process.getuid?.() === 0
/** A system that debootstrap made; the test works on a copy. */
const debian = process.env['DEBIAN_ROOT']
const hasImageTools = ['skopeo', 'umoci', 'bwrap'].every((tool) => Bun.which(tool))

/** Runs a script over a package of the first release. */
async function tryOut(script: string, file: string, ...more: string[]): Promise<string> {
  const at = join(folder, 'one')
  const path = join(at, 'dist/release', file)
  const { code, said } = await run(['bash', join('scripts/release', script), path, ...more], at)
  expect({ code, said }).toMatchObject({ code: 0 })
  return said
}

describe.skipIf(!isNightly)('a release', () => {
  promise`L9`
  test('has the same bytes from two clones in different folders, and one changed byte is found', async () => {
    const one = await clone('one')
    const other = await clone('a-folder-with-a-longer-name')
    for (const at of [one, other]) {
      const { code, said } = await run([bun, 'run', 'release', '--only', 'linux-x64'], at)
      expect({ code, said }).toMatchObject({ code: 0 })
    }
    const [out, same] = [join(one, 'dist/release'), join(other, 'dist/release')]
    expect(await run(['diff', '--recursive', out, same], folder)).toEqual({ code: 0, said: '' })
    const check = ['sha256sum', '--check', '--ignore-missing', 'SHA256SUMS']
    expect((await run(check, out)).code).toBe(0)
    const archive = `counterfoil-${packageJson.version}-linux-x64.tar.gz`
    const changed = await Bun.file(join(out, archive)).bytes()
    const middle = changed.length >> 1
    changed[middle] = (changed[middle] ?? 0) ^ 1
    writeFileSync(join(out, archive), changed)
    const found = await run(check, out)
    expect(found.code).toBe(1)
    expect(found.said).toContain(`${archive}: FAILED`)
  }, 1_800_000)

  test.skipIf(!hasImageTools || !isRoot)(
    'its image makes a verified receipt, read-only and without privileges',
    async () => {
      const file = `counterfoil-${packageJson.version}-amd64.oci.tar`
      expect(await tryOut('try-image.sh', file)).toContain('Signed and logged')
    },
    300_000,
  )

  test.skipIf(!debian || !isRoot)(
    'its Debian package is installed, started, upgraded over data and purged',
    async () => {
      const root = join(folder, 'debian')
      expect((await run(['cp', '--archive', debian ?? '', root], folder)).code).toBe(0)
      const file = `counterfoil_${packageJson.version}-1_amd64.deb`
      expect(await tryOut('try-debian.sh', file, root)).toContain('removed and purged')
    },
    300_000,
  )

  test('is refused where a file differs from the commit, and where a platform does not exist', async () => {
    const at = await clone('unclean')
    const wrong = await run([bun, 'run', 'release', '--only', 'amiga'], at)
    expect(wrong.code).toBe(1)
    expect(wrong.said).toContain('--only knows linux-x64,')
    appendFileSync(join(at, 'README.md'), 'changed\n')
    const unclean = await run([bun, 'run', 'release', '--only', 'linux-x64'], at)
    expect(unclean.code).toBe(1)
    expect(unclean.said).toContain('README.md')
  }, 120_000)
})
