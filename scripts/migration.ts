/**
 * `bun run db:generate <name>`: drizzle-kit writes a migration for each engine from the schema;
 * new SQLite tables are then made STRICT, which drizzle-kit cannot say.
 */
import { mkdirSync, readdirSync } from 'node:fs'

const name = Bun.argv[2]
if (!name || !/^[a-z][a-z0-9_]*$/.test(name)) {
  console.error('usage: bun run db:generate <name>   (a-z, 0-9, _)')
  process.exit(2)
}

for (const [dialect, folder] of [
  ['sqlite', 'drizzle/sqlite'],
  ['postgresql', 'drizzle/pg'],
] as const) {
  mkdirSync(folder, { recursive: true })
  const before = new Set(readdirSync(folder))
  const run = Bun.spawnSync(['bunx', '--no-install', 'drizzle-kit', 'generate', '--name', name], {
    env: { ...process.env, DIALECT: dialect },
    stdio: ['inherit', 'inherit', 'inherit'],
  })
  if (!run.success) process.exit(run.exitCode)
  if (dialect !== 'sqlite') continue
  for (const file of readdirSync(folder)) {
    if (file.endsWith('.sql') && !before.has(file)) await makeStrict(`${folder}/${file}`)
  }
}

/** Ends every CREATE TABLE of a migration with STRICT. */
async function makeStrict(path: string): Promise<void> {
  const divider = '--> statement-breakpoint'
  const statements = (await Bun.file(path).text())
    .split(divider)
    .map((statement) =>
      /^\s*CREATE TABLE/.test(statement)
        ? statement.replace(/\);(\s*)$/, ') STRICT;$1')
        : statement,
    )
  await Bun.write(path, statements.join(divider))
}
