import { expect, test } from 'bun:test'
import packageJson from '../package.json'
import { promise } from './support/promise.ts'

type Entry = [name: string, registry: string, meta: unknown, integrity: string]

const bunLock = await Bun.file('bun.lock').text()
// The lock file is JSON with trailing commas.
const lock = JSON.parse(bunLock.replace(/,(\s*[}\]])/g, '$1')) as {
  packages: Record<string, Entry>
}
const installed = Object.entries(lock.packages)

promise`L1 H: Every dependency is one version, written in the lockfile.`
test('every dependency is pinned to one version', () => {
  const ranges = Object.entries({ ...packageJson.dependencies, ...packageJson.devDependencies })
  expect(ranges.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([])
})

promise`L5 H: Every package comes from the registry with its hash.`
test('every package comes from the registry with its integrity', () => {
  // Four members: from a registry. Git, file, link and tarball entries have others.
  const odd = installed.filter(
    ([, [name, registry, , integrity, ...more]]) =>
      more.length > 0 ||
      !/@\d+\.\d+\.\d+[-+.\w]*$/.test(name) ||
      registry !== '' ||
      !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity),
  )
  expect(odd).toEqual([])
})

promise`L2 H: No package runs code when it is installed.`
test('no package runs code at install, and fresh releases wait three days', async () => {
  expect(packageJson).not.toHaveProperty('trustedDependencies')
  const bunfig = Bun.TOML.parse(await Bun.file('bunfig.toml').text())
  expect(bunfig).toMatchObject({ install: { exact: true, ignoreScripts: true } })
  expect(bunfig).toHaveProperty('install.minimumReleaseAge', expect.any(Number))
  expect(bunLock).not.toContain('"trustedDependencies"')
  const { install } = bunfig as { install: { minimumReleaseAge: number } }
  expect(install.minimumReleaseAge).toBeGreaterThanOrEqual(3 * 86_400)
})

/** The first release of each package without a hole that was found in an older one. */
const floors = {
  elysia: '1.4.27',
  'drizzle-orm': '0.45.2',
  siwe: '3.0.0',
  '@kitajs/html': '4.2.13',
  'htmx.org': '4.0.1',
}

promise`L4 H: No package is older than the first sound one.`
test.each(Object.entries(floors))('no %s older than %s is installed', (name, floor) => {
  const versions = installed.flatMap(([, [id]]) =>
    id.startsWith(`${name}@`) ? [id.slice(name.length + 1)] : [],
  )
  const old = versions.filter((version) => Bun.semver.order(version, floor) < 0)
  expect(old).toEqual([])
})

test('viem is the one version that installs whole, and Bun is new enough', () => {
  const viem = installed.map(([, [id]]) => id).filter((id) => id.startsWith('viem@'))
  expect(viem).toEqual(['viem@2.57.1'])
  expect(Bun.semver.order(Bun.version, '1.4.5')).toBeGreaterThanOrEqual(0)
})
