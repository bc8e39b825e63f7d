/**
 * `bun run db:generate <name>`: drizzle-kit writes a step for each engine from the schema. New
 * SQLite tables are then made STRICT, which drizzle-kit cannot say, and only its newest snapshot
 * stays: it compares the schema with that one alone.
 *
 * `bun run db:generate init` regenerates the first step, as long as there is no release: steps
 * behind it are dropped, and the statements of drizzle/guards.<engine>.sql end it.
 */
import { mkdirSync, readdirSync, rmSync } from 'node:fs'

const name = Bun.argv[2]
if (!name || !/^[a-z][a-z0-9_]*$/.test(name)) {
  console.error('usage: bun run db:generate <name>   (a-z, 0-9, _)')
  process.exit(2)
}
const isFirst = name === 'init'
const releases = [...new Bun.Glob('databases/*.sql').scanSync('test/fixtures')]
if (isFirst && releases.length > 0) {
  console.error('a release left a database behind: its first step stays; name another step')
  process.exit(2)
}

const divider = '--> statement-breakpoint'

/** Tables found by a key of several columns or of text: one b-tree in place of two. */
const withoutRowid = [
  ...['transfers', 'facts', 'key_secrets', 'key_windows', 'leases', 'price_lists'],
]

for (const [dialect, engine] of [
  ['sqlite', 'sqlite'],
  ['postgresql', 'pg'],
] as const) {
  const folder = `drizzle/${engine}`
  if (isFirst) rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const before = new Set(readdirSync(folder))
  const run = Bun.spawnSync(['bunx', '--no-install', 'drizzle-kit', 'generate', '--name', name], {
    env: { ...process.env, DIALECT: dialect },
    stdio: ['inherit', 'inherit', 'inherit'],
  })
  if (!run.success) process.exit(run.exitCode)
  const made = readdirSync(folder).filter((file) => file.endsWith('.sql') && !before.has(file))
  for (const file of made) await complete(`${folder}/${file}`, engine)
  dropSnapshots(`${folder}/meta`)
}

/** Adds to a step what drizzle-kit does not write. */
async function complete(path: string, engine: 'sqlite' | 'pg'): Promise<void> {
  const statements = (await Bun.file(path).text()).split(divider)
  const whole = engine === 'sqlite' ? statements.map(strict) : statements
  const ends = isFirst ? [await Bun.file(`drizzle/guards.${engine}.sql`).text()] : []
  await Bun.write(path, [`${whole.join(divider).trimEnd()}\n`, ...ends].join(`${divider}\n`))
}

/** Ends a CREATE TABLE with STRICT. */
function strict(statement: string): string {
  const table = /^\s*CREATE TABLE `(\w+)`/.exec(statement)?.[1]
  if (table === undefined) return statement
  const options = withoutRowid.includes(table) ? 'WITHOUT ROWID, STRICT' : 'STRICT'
  return statement.replace(/\);(\s*)$/, `) ${options};$1`)
}

/** Deletes all snapshots but the newest. */
function dropSnapshots(folder: string): void {
  const snapshots = readdirSync(folder).filter((file) => file.endsWith('_snapshot.json'))
  for (const file of snapshots.sort().slice(0, -1)) rmSync(`${folder}/${file}`)
}
