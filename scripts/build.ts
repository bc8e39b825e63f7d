/**
 * `bun run build [--target <platform>]`: one executable in `dist/`, nothing beside it. Without a
 * platform it is for this machine, `dist/counterfoil`; with one, `dist/counterfoil-<platform>`.
 * For another machine Bun fetches its own runtime of that platform once, and keeps it.
 * `COUNTERFOIL_COMMIT` names the commit where there is no git.
 */
const platforms = [
  'linux-x64',
  'linux-x64-musl',
  'linux-arm64',
  'linux-arm64-musl',
  'darwin-x64',
  'darwin-arm64',
  'windows-x64',
]
const target = readTarget(Bun.argv.slice(2))
const suffix = target?.startsWith('windows') ? '.exe' : ''
const outfile = `dist/counterfoil${target ? `-${target}` : ''}${suffix}`
const result = await Bun.build({
  entrypoints: ['src/main.ts'],
  compile: {
    outfile,
    ...(target ? { target: `bun-${target}` as Bun.Build.CompileTarget } : {}),
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
    COUNTERFOIL_BUILD_COMMIT: JSON.stringify(commit()),
  },
})
for (const log of result.logs) console.error(String(log))
if (!result.success) process.exit(1)
// The maps are inside the executable; the files beside it would only be forgotten.
const maps = result.outputs.filter(({ path }) => path.endsWith('.map'))
await Promise.all(maps.map(({ path }) => Bun.file(path).delete()))
console.log(outfile, Bun.file(outfile).size)

/** The platform that was asked for, as Bun names it or without its `bun-`. */
function readTarget(args: string[]): string | undefined {
  const [first, second] = args[0]?.startsWith('--target=')
    ? ['--target', args[0].slice('--target='.length)]
    : args
  if (first === undefined) return undefined
  const asked = (first === '--target' ? second : first)?.replace(/^bun-/, '')
  if (asked !== undefined && platforms.includes(asked)) return asked
  console.error(`build [--target ${platforms.join('|')}]`)
  process.exit(2)
}

/** The commit that is built, `-dirty` when tracked files differ from it; empty when unknown. */
function commit(): string {
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
