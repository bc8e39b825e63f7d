import { afterAll, describe, expect, test } from 'bun:test'
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import packageJson from '../../package.json'
import { platforms } from '../../scripts/build.ts'
import {
  hasPackage,
  launcherManifest,
  manifestOf,
  tarballOf,
  writeLauncher,
} from '../../scripts/release/npm.ts'

const folder = mkdtempSync(join(tmpdir(), 'counterfoil-npm-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('the npm packages', () => {
  test('say which system, processor and C library each is for', () => {
    expect(manifestOf('linux-x64-musl')).toMatchObject({
      name: '@counterfoil/linux-x64-musl',
      version: packageJson.version,
      os: ['linux'],
      cpu: ['x64'],
      libc: ['musl'],
    })
    expect(manifestOf('linux-arm64')).toMatchObject({ cpu: ['arm64'], libc: ['glibc'] })
    expect(manifestOf('windows-x64')).toMatchObject({ os: ['win32'], cpu: ['x64'] })
    expect(manifestOf('darwin-arm64')).not.toHaveProperty('libc')
  })

  test('of which no two are for the same machine', () => {
    const places = platforms.filter(hasPackage).map((platform) => {
      const { os, cpu, libc } = manifestOf(platform)
      return JSON.stringify([os, cpu, libc])
    })
    expect(new Set(places).size).toBe(places.length)
    expect(places.length).toBe(platforms.length - 1)
  })

  test('are named by the one that people install, at its very version, if they were built', () => {
    const { bin, optionalDependencies } = launcherManifest(['linux-x64', 'linux-x64-modern'])
    expect(bin).toEqual({ counterfoil: 'counterfoil.cjs' })
    expect(optionalDependencies).toEqual({ '@counterfoil/linux-x64': packageJson.version })
    expect(JSON.stringify(launcherManifest(platforms))).not.toContain('"scripts"')
  })

  test('have the names that npm pack gives', () => {
    expect(tarballOf(launcherManifest([]))).toBe(`counterfoil-${packageJson.version}.tgz`)
    const scoped = `counterfoil-linux-x64-${packageJson.version}.tgz`
    expect(tarballOf(manifestOf('linux-x64'))).toBe(scoped)
  })

  test('are written with the same bytes each time', async () => {
    const [one, two] = [join(folder, 'one'), join(folder, 'two')]
    const name = await writeLauncher(['linux-x64'], one, 1_700_000_000)
    await writeLauncher(['linux-x64'], two, 1_700_000_000)
    const bytes = await Bun.file(join(one, name)).bytes()
    expect(await Bun.file(join(two, name)).bytes()).toEqual(bytes)
  })
})

const node = Bun.which('node')
const ownName = `${process.platform}-${process.arch}`

/** The launcher as npm installs it, beside an executable that is the given script. */
function install(script?: string): string {
  const at = mkdtempSync(join(folder, 'installed-'))
  copyFileSync('packaging/npm/counterfoil.cjs', join(at, 'counterfoil.cjs'))
  writeFileSync(join(at, 'package.json'), JSON.stringify(launcherManifest(platforms)))
  if (script === undefined) return at
  const own = join(at, 'node_modules/@counterfoil', ownName)
  mkdirSync(join(own, 'bin'), { recursive: true })
  writeFileSync(join(own, 'package.json'), '{}')
  writeFileSync(join(own, 'bin/counterfoil'), `#!/bin/sh\n${script}\n`)
  chmodSync(join(own, 'bin/counterfoil'), 0o755)
  return at
}

const launch = (runtime: string, at: string, ...args: string[]) =>
  Bun.spawn([runtime, join(at, 'counterfoil.cjs'), ...args], { stdout: 'pipe', stderr: 'pipe' })

const runtimes: [name: string, path: string | null][] = [
  ['Node', node],
  // Bun has process.execve, as Node has since 22.15.
  ['a runtime with process.execve', process.execPath],
]

describe.each(runtimes)('the launcher of npm, in %s', (_, path) => {
  const runtime = path ?? ''

  test.skipIf(!path)('passes on arguments, output and the exit code', async () => {
    const child = launch(runtime, install('echo "$@"; exit 78'), 'serve', '--a b')
    expect(await child.exited).toBe(78)
    expect(await new Response(child.stdout).text()).toBe('serve --a b\n')
    expect(await new Response(child.stderr).text()).toBe('')
  })

  test.skipIf(!path)('passes on a signal, and waits for the end that it causes', async () => {
    const script = 'trap "echo stopped; exit 3" TERM; echo ready; while :; do sleep 0.05; done'
    const child = launch(runtime, install(script))
    const reader = child.stdout.getReader()
    const first = new TextDecoder().decode((await reader.read()).value)
    expect(first).toBe('ready\n')
    child.kill('SIGTERM')
    expect(await child.exited).toBe(3)
    expect(new TextDecoder().decode((await reader.read()).value)).toBe('stopped\n')
  })

  test.skipIf(!path)('says what is missing, and the command that brings it', async () => {
    const child = launch(runtime, install())
    expect(await child.exited).toBe(1)
    const said = await new Response(child.stderr).text()
    expect(said).toContain(`@counterfoil/${ownName} is missing`)
    expect(said).toContain(`npm install @counterfoil/${ownName}@${packageJson.version}`)
  })
})
