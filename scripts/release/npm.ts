/**
 * The npm packages: `counterfoil`, a launcher in plain Node, and one optional dependency a platform
 * with its executable, of which npm installs the one that fits.
 */
import { join } from 'node:path'
import packageJson from '../../package.json'
import { type Platform, suffixOf } from '../build.ts'
import { type Entry, foldersOf, tarGzOf } from './tar.ts'

export type Manifest = {
  name: string
  version: string
  description: string
  license: string
  os?: string[]
  cpu?: string[]
  libc?: string[]
  bin?: Record<string, string>
  engines?: Record<string, string>
  optionalDependencies?: Record<string, string>
  files: string[]
}

/** npm cannot tell processors with AVX2 from others. */
export const hasPackage = (platform: Platform): boolean => !platform.endsWith('-modern')

/** The package of one platform. npm older than 10 ignores `libc` and installs both of Linux. */
export function manifestOf(platform: Platform): Manifest {
  const [system = '', cpu = '', libc] = platform.split('-')
  return {
    ...shared,
    name: `@counterfoil/${platform}`,
    description: `The executable of counterfoil for ${platform}.`,
    os: [system === 'windows' ? 'win32' : system],
    cpu: [cpu],
    ...(system === 'linux' ? { libc: [libc ?? 'glibc'] } : {}),
    files: ['bin'],
  }
}

/** The package that people install. @param made the platforms that were built */
export const launcherManifest = (made: readonly Platform[]): Manifest => ({
  ...shared,
  name: packageJson.name,
  description: packageJson.description,
  bin: { counterfoil: 'counterfoil.cjs' },
  engines: { node: '>=18' },
  optionalDependencies: Object.fromEntries(
    made.filter(hasPackage).map((platform) => [`@counterfoil/${platform}`, packageJson.version]),
  ),
  files: ['counterfoil.cjs'],
})

const shared = { version: packageJson.version, license: packageJson.license }

/** The name that `npm pack` would give a package. */
export const tarballOf = ({ name, version }: Manifest): string =>
  `${name.replace('@', '').replace('/', '-')}-${version}.tgz`

/** Writes the package of a platform into a folder and returns the file's name. */
export async function writePlatformPackage(
  platform: Platform,
  executable: string,
  folder: string,
  mtime: number,
): Promise<string> {
  const path = `bin/counterfoil${suffixOf(platform)}`
  const body = await Bun.file(executable).bytes()
  return write(folder, mtime, manifestOf(platform), [{ path, mode: 0o755, body }])
}

/** Writes the package that people install and returns the file's name. */
export async function writeLauncher(
  made: readonly Platform[],
  folder: string,
  mtime: number,
): Promise<string> {
  const body = await Bun.file('packaging/npm/counterfoil.cjs').bytes()
  const readme = await Bun.file('packaging/npm/README.md').bytes()
  return write(folder, mtime, launcherManifest(made), [
    { path: 'counterfoil.cjs', mode: 0o755, body },
    { path: 'README.md', mode: 0o644, body: readme },
  ])
}

async function write(folder: string, mtime: number, manifest: Manifest, files: Entry[]) {
  const text = new TextEncoder().encode(`${JSON.stringify(manifest, null, 2)}\n`)
  const entries = [
    { path: 'package.json', mode: 0o644, body: text },
    { path: 'LICENSE', mode: 0o644, body: await Bun.file('LICENSE').bytes() },
    ...files,
  ].map((entry) => ({ ...entry, path: `package/${entry.path}` }))
  const folders = new Map(
    entries.flatMap(({ path }) => foldersOf(path)).map((entry) => [entry.path, entry]),
  )
  const name = tarballOf(manifest)
  await Bun.write(join(folder, name), tarGzOf([...folders.values(), ...entries], mtime))
  return name
}
