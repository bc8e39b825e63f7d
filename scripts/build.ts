/**
 * `bun run build [target]`: one executable in `dist/`, nothing beside it.
 * A target is Bun's name of a platform: `bun-linux-arm64`. `COUNTERFOIL_COMMIT` names the commit
 * where there is no git.
 */
const target = Bun.argv[2]
const outfile = `dist/counterfoil${target ? `-${target.replace(/^bun-/, '')}` : ''}`
const result = await Bun.build({
  entrypoints: ['src/main.ts'],
  compile: {
    outfile,
    ...(target ? { target: target as Bun.Build.CompileTarget } : {}),
    // A stray .env or bunfig.toml in the working folder must not change what runs.
    autoloadDotenv: false,
    autoloadBunfig: false,
  },
  // Elysia reads the source of handlers: their names must survive.
  minify: { whitespace: true, syntax: true, identifiers: false },
  sourcemap: 'inline',
  bytecode: true,
  define: {
    'process.env.NODE_ENV': '"production"',
    COUNTERFOIL_BUILD_COMMIT: JSON.stringify(commit()),
  },
})
for (const log of result.logs) console.error(String(log))
if (!result.success) process.exit(1)
// The map is inside the executable; the file beside it would only be forgotten.
await Bun.file(`${outfile}.map`)
  .delete()
  .catch(() => {})
console.log(outfile, Bun.file(outfile).size)

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
