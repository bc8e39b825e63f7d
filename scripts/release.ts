/**
 * `bun run release [--only <platform,…>] [--sign <secret key>]`: everything that a release consists
 * of, in `dist/release/`, from a clean checkout. docs/install.md says what is in it. The key of
 * minisign stays with the operator of the project: this script gets its path alone.
 */
import { mkdirSync, rmSync } from 'node:fs'
import { parseArgs } from 'node:util'
import packageJson from '../package.json'
import { build, executableOf, type Platform, platforms } from './build.ts'
import { writeArchive } from './release/archive.ts'
import { architectureOf, writeDebian } from './release/debian.ts'
import { writeImage } from './release/image.ts'
import { notesOf, type Outcome } from './release/notes.ts'
import { hasPackage, writeLauncher, writePlatformPackage } from './release/npm.ts'
import { assertOwnVersion } from './release/own-version.ts'
import { sign, writeSums } from './release/sums.ts'
import { tryExecutable } from './release/try.ts'
import { makeSbom } from './sbom.ts'

const folder = 'dist/release'

const { values } = parseArgs({
  options: { only: { type: 'string' }, sign: { type: 'string' } },
})

/** A release; `mtime` is the time of its commit, in seconds since 1970. */
type Source = { version: string; commit: string; mtime: number; maintainer: string }

/** The lines of the notes about packages: those that were made, and those that could not be. */
const made: string[] = []
const missing: string[] = []

/** Makes a package, or notes why it could not be made. */
async function attempt(kind: string, make: () => Promise<string>): Promise<void> {
  try {
    const name = await make()
    console.log(name)
    made.push(`${kind}: ${name}`)
  } catch (error) {
    missing.push(`${kind}: ${firstLineOf(error)}`)
  }
}

/** @throws Error when files differ from the commit, or another commit has this version's tag */
function assertClean(): Source {
  const changed = git('status', '--porcelain')
  if (changed) throw new Error(`commit or remove first:\n${changed}`)
  const commit = git('rev-parse', 'HEAD')
  assertOwnVersion(packageJson.version, commit, git)
  return {
    version: packageJson.version,
    commit,
    mtime: Number(git('log', '-1', '--format=%ct')),
    maintainer: git('log', '-1', '--format=%an <%ae>'),
  }
}

function git(...args: string[]): string {
  const done = Bun.spawnSync(['git', ...args], { stderr: 'pipe' })
  if (done.exitCode !== 0) throw new Error(`git ${args[0]}: ${done.stderr.toString().trim()}`)
  return done.stdout.toString().trim()
}

/** @throws Error that names a platform which does not exist */
function wanted(): readonly Platform[] {
  if (values.only === undefined) return platforms
  return values.only.split(',').map((name) => {
    const known = platforms.find((platform) => platform === name)
    if (!known) throw new Error(`--only knows ${platforms.join(', ')}, not "${name}"`)
    return known
  })
}

async function makeOne(platform: Platform, at: Source) {
  const executable = executableOf(platform)
  try {
    await build(platform, executable)
  } catch (error) {
    return { platform, built: false, why: firstLineOf(error) } satisfies Outcome
  }
  const name = await writeArchive(at, platform, executable, folder)
  console.log(`${name} ${Bun.file(`${folder}/${name}`).size}`)
  if (hasPackage(platform)) {
    console.log(await writePlatformPackage(platform, executable, folder, at.mtime))
  }
  if (architectureOf(platform)) {
    const debian = () => writeDebian(at, platform, executable, folder)
    await attempt(`Debian (${platform})`, debian)
  }
  // The libraries in an image are those of this machine.
  if (platform === `linux-${process.arch}`) {
    const architecture = architectureOf(platform) ?? ''
    await attempt(`OCI image (${architecture})`, () =>
      writeImage(executable, { ...at, architecture }, folder),
    )
  }
  const ran = await tryExecutable(platform, executable)
  const bytes = Bun.file(executable).size
  return { platform, built: true, bytes, ran } satisfies Outcome
}

const firstLineOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? ''

async function main(): Promise<void> {
  const source = assertClean()
  const { version, commit, mtime } = source
  const chosen = wanted()
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const outcomes: Outcome[] = []
  for (const platform of chosen) outcomes.push(await makeOne(platform, source))
  const built = outcomes.filter((outcome) => outcome.built).map(({ platform }) => platform)
  const launcher = await writeLauncher(built, folder, mtime)
  made.push(
    `npm: ${launcher} and one package a platform, packed and not published; publish it last`,
  )
  const sbom = `${JSON.stringify(makeSbom(await Bun.file('bun.lock').text()), null, 2)}\n`
  await Bun.write(`${folder}/counterfoil-${version}.cdx.json`, sbom)
  const notes = notesOf(await Bun.file('CHANGELOG.md').text(), {
    version,
    commit,
    bun: Bun.version,
    outcomes,
    made,
    missing,
    isSigned: values.sign !== undefined,
  })
  await Bun.write(`${folder}/NOTES.md`, notes)
  // A file that changed meanwhile is in some executables and not in others.
  if (assertClean().commit !== commit) throw new Error('the commit changed meanwhile')
  await writeSums(folder)
  if (values.sign) await sign(folder, values.sign, `counterfoil ${version} ${commit}`)
  else console.log(`unsigned: minisign -S -s <secret key> -m ${folder}/SHA256SUMS`)
  const failed = outcomes.filter((outcome) => !outcome.built)
  for (const { platform } of failed) console.error(`${platform} was not built; NOTES.md says why`)
}

try {
  await main()
} catch (error) {
  console.error(`release: ${error instanceof Error ? error.message : error}`)
  process.exit(1)
}
