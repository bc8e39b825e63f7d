import type { Database } from 'bun:sqlite'
import { afterEach, describe, expect, test } from 'bun:test'
import { linkSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { connect } from '../../../src/storage/db/engine/connection.ts'
import { dropHalfPlaced, placeNewFile } from '../../../src/storage/db/files/new-file.ts'
import { migrateSqlite } from '../../../src/storage/db/schema/migrate.ts'
import { closeAll, freshFile, opened } from './file.ts'

afterEach(closeAll)

function openRaw(file: string): Database {
  const raw = connect(file)
  opened.push(() => raw.close())
  return raw
}

const contentOf = (raw: Database) => ({
  schema: raw.query('select type, name, tbl_name, sql from sqlite_master order by name').values(),
  steps: raw.query('select * from migrations order by tag').values(),
  owner: raw.query('PRAGMA application_id').values(),
  page: raw.query('PRAGMA page_size').values(),
  vacuum: raw.query('PRAGMA auto_vacuum').values(),
  encoding: raw.query('PRAGMA encoding').values(),
})

test('a new file is what its steps make one by one, and lacks none', () => {
  const file = freshFile()
  const steps = placeNewFile(file, 'new', 5)
  const placed = openRaw(file)
  const stepwise = openRaw(freshFile())
  expect(migrateSqlite(stepwise, 5, () => {})).toEqual(steps ?? [])
  expect(contentOf(placed)).toEqual(contentOf(stepwise))
  expect(migrateSqlite(placed, 6, () => {})).toEqual([])
  expect(placed.query('PRAGMA journal_mode').values()).toEqual([['wal']])
  expect(placed.query('PRAGMA integrity_check').values()).toEqual([['ok']])
})

test('it is for its owner alone, and nothing is left beside it', () => {
  const file = freshFile()
  placeNewFile(file, 'new', 5)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readdirSync(dirname(file)).filter((name) => name.startsWith(basename(file)))).toEqual([
    basename(file),
  ])
})

test('a file that is there stays as it is', async () => {
  const file = freshFile()
  await Bun.write(file, 'mine')
  expect(placeNewFile(file, 'new', 5)).toBeUndefined()
  expect(await Bun.file(file).text()).toBe('mine')
})

test('a file that cannot be placed leaves nothing behind, and the opening migrates instead', () => {
  const file = `${freshFile()}-none/counterfoil.db`
  expect(placeNewFile(file, 'new', 5)).toBeUndefined()
})

test('what a killed start left beside it goes, and nothing else', () => {
  const file = freshFile()
  placeNewFile(file, 'new', 5)
  const name = basename(file)
  const half = `${file}.new-0123456789abcdef`
  writeFileSync(half, 'half')
  linkSync(file, `${file}.new-fedcba9876543210`)
  const kept = [name, `${name}-wal`, `${name}.new-mine`, `${name}.before-0123456789abcdef`]
  for (const one of kept.slice(1)) writeFileSync(join(dirname(file), one), 'mine')
  dropHalfPlaced(file)
  expect(readdirSync(dirname(file)).sort()).toEqual(kept.sort())
  expect(openRaw(file).query('PRAGMA quick_check').values()).toEqual([['ok']])
})

test('nothing is looked for in a folder that is not there yet', () => {
  expect(() => dropHalfPlaced(`${freshFile()}-none/counterfoil.db`)).not.toThrow()
})

test('a server that starts makes away with what a killed start left', async () => {
  const file = freshFile()
  const half = `${file}.new-0123456789abcdef`
  writeFileSync(half, 'half')
  const args = ['serve', '--data', dirname(file), '--listen', '127.0.0.1:0']
  const run = Bun.spawn([process.execPath, 'src/main.ts', ...args], {
    cwd: root,
    stdout: 'ignore',
    stderr: 'ignore',
  })
  try {
    while (run.exitCode === null && (await Bun.file(half).exists())) await Bun.sleep(20)
    expect(await Bun.file(half).exists()).toBe(false)
  } finally {
    run.kill('SIGKILL')
    await run.exited
  }
}, 30_000)

/** Containers may have the program and forbid what it does. */
const canTrace =
  Bun.which('strace') !== null &&
  Bun.spawnSync(['strace', '-qq', '-o', '/dev/null', 'true']).exitCode === 0

describe.skipIf(!canTrace)('a folder that cannot be synced', () => {
  test('because no one can there: the file is placed all the same', async () => {
    const file = freshFile()
    expect(await placeUnder('EINVAL', file)).toContain('placed')
    expect(openRaw(file).query('PRAGMA quick_check').values()).toEqual([['ok']])
  })

  test('because the disk failed: the opening fails too', async () => {
    expect(await placeUnder('EIO', freshFile())).toContain('EIO')
  })
})

const root = join(import.meta.dir, '../../..')

/** What a process says that places a file while its second sync, that of the folder, fails. */
async function placeUnder(error: string, file: string): Promise<string> {
  const script = `
    import { placeNewFile } from './src/storage/db/files/new-file.ts'
    try {
      console.log(placeNewFile(${JSON.stringify(file)}, 'new', 5) ? 'placed' : 'stepwise')
    } catch (error) {
      console.log(error.code)
    }`
  const words = ['strace', '-f', '-qq', '-o', '/dev/null', '-e', 'trace=fsync']
  const inject = ['-e', `inject=fsync:error=${error}:when=2`]
  const run = Bun.spawn([...words, ...inject, process.execPath, '-e', script], {
    cwd: root,
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [said, wrong] = await Promise.all([
    new Response(run.stdout).text(),
    new Response(run.stderr).text(),
  ])
  return said + wrong
}
