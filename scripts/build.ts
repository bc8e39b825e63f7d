/**
 * `bun run build [--target <platform>]`: one executable in `dist/`, nothing beside it. Without a
 * platform it is for this machine, `dist/counterfoil`; with one, `dist/counterfoil-<platform>`.
 * For another machine Bun fetches its own runtime of that platform once, and keeps it.
 * `COUNTERFOIL_COMMIT` names the commit where there is no git.
 */
export const platforms = [
  'linux-x64',
  'linux-x64-modern',
  'linux-x64-musl',
  'linux-arm64',
  'linux-arm64-musl',
  'darwin-x64',
  'darwin-arm64',
  'windows-x64',
] as const
export type Platform = (typeof platforms)[number]

/** The output of `build`: the name says the platform, unless it is this machine's. */
export const executableOf = (platform?: Platform): string =>
  `dist/counterfoil${platform ? `-${platform}` : ''}${suffixOf(platform)}`

/** The suffix of an executable on a platform. */
export const suffixOf = (platform?: Platform): string =>
  platform?.startsWith('windows') ? '.exe' : ''

/**
 * Writes the executable. The same commit gives the same bytes in any folder, at any time.
 * @throws Error where the sources do not build, or the runtime of that platform cannot be had
 */
export async function build(
  platform?: Platform,
  outfile = executableOf(platform),
): Promise<string> {
  const result = await Bun.build({
    entrypoints: ['src/main.ts'],
    compile: {
      outfile,
      ...(platform ? { target: runtimeOf(platform) } : {}),
      // A stray .env or bunfig.toml in the working folder must not change what runs.
      autoloadDotenv: false,
      autoloadBunfig: false,
    },
    // Elysia reads the source of handlers: their names must survive.
    minify: { whitespace: true, syntax: true, identifiers: false },
    sourcemap: 'inline',
    // A file for each import() and what is shared: a start reads what it needs of the program.
    splitting: true,
    format: 'esm',
    bytecode: true,
    define: {
      'process.env.NODE_ENV': '"production"',
      // Two packages look for files beside their own, which an executable does not have: the
      // folder of the build would only make two builds differ.
      __dirname: '"/"',
      COUNTERFOIL_BUILD_COMMIT: JSON.stringify(commit()),
      COUNTERFOIL_BUILD_PLATFORM: JSON.stringify(platform ?? ownPlatform()),
    },
  })
  for (const log of result.logs) console.error(String(log))
  if (!result.success) throw new Error(`${outfile} does not build`)
  // The maps are inside the executable; the files beside it would only be forgotten.
  const maps = result.outputs.filter(({ path }) => path.endsWith('.map'))
  await Promise.all(maps.map(({ path }) => Bun.file(path).delete()))
  return outfile
}

/** The platform of this machine; empty where no release is made for it. */
function ownPlatform(): string {
  const isMusl = process.platform === 'linux' && !isGlibc()
  const system = process.platform === 'win32' ? 'windows' : process.platform
  const name = `${system}-${process.arch}${isMusl ? '-musl' : ''}`
  return platforms.find((platform) => platform === name) ?? ''
}

/** Whether the C library of this machine is glibc: its report names a version of it. */
function isGlibc(): boolean {
  const report = process.report.getReport() as { header?: { glibcVersionRuntime?: string } }
  return report.header?.glibcVersionRuntime !== undefined
}

/** Bun's name of a runtime. On x64 the one that needs no AVX2 runs on every machine. */
const runtimeOf = (platform: Platform): Bun.Build.CompileTarget =>
  (platform.endsWith('-modern')
    ? `bun-${platform}`
    : `bun-${platform.replace(/^(linux|windows)-x64/, '$1-x64-baseline')}`) as never

/** The platform that was asked for, as Bun names it or without its `bun-`. */
function readTarget(args: string[]): Platform | undefined {
  const [first, second] = args[0]?.startsWith('--target=')
    ? ['--target', args[0].slice('--target='.length)]
    : args
  if (first === undefined) return undefined
  const asked = (first === '--target' ? second : first)?.replace(/^bun-/, '')
  const known = platforms.find((platform) => platform === asked)
  if (known) return known
  console.error(`build [--target ${platforms.join('|')}]`)
  process.exit(2)
}

/** The commit that is built, `-dirty` when tracked files differ from it; empty when unknown. */
export function commit(): string {
  const given = process.env['COUNTERFOIL_COMMIT']
  if (given) return given
  const head = git('rev-parse', 'HEAD')
  if (!head) return ''
  return git('status', '--porcelain', '--untracked-files=no') ? `${head}-dirty` : head
}

function git(...args: string[]): string {
  try {
    return Bun.spawnSync(['git', ...args], { stderr: 'ignore' })
      .stdout.toString()
      .trim()
  } catch {
    return ''
  }
}

if (import.meta.main) {
  const outfile = await build(readTarget(Bun.argv.slice(2)))
  console.log(outfile, Bun.file(outfile).size)
}
