/**
 * `bun bench/grown-db.ts`: a database with 10^6 receipts and 10^5 keys in trees of five levels. To
 * make it takes minutes, so it stays in the system's folder for temporary files and is copied.
 */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { constants, copyFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { seedRuns } from '../drills/seed.ts'
import { fingerprintOf, hashSecret, makeSecret } from '../src/access/keys/secret.ts'
import { systemClock } from '../src/kernel/clock.ts'
import { sha256 } from '../src/kernel/hash.ts'
import { openSqlite } from '../src/storage/db/engine/sqlite.ts'
import type { AccountRow, KeyRow } from '../src/storage/db/schema/schema.ts'
import { insert } from '../src/storage/db/sql/query-steps.ts'
import { freePort } from '../test/support/free-port.ts'
import { plainAccount, plainKey } from '../test/support/plain-key.ts'
import { binary, environment } from './environment.ts'
import { start } from './processes.ts'
import { answers, benchAccount, serveCommand } from './targets.ts'

export const grown = { receipts: 1_000_000, keys: 100_000, levels: 5 }
/** What its log is named by, wherever it is served. */
export const grownEnv = { COUNTERFOIL_BASE_URL: 'http://localhost:4663' }

/** The secret of one of its keys; every fifth is at the bottom of a tree. */
export const grownSecret = (index: number): string =>
  makeSecret({ bytes: () => sha256(`bench key ${index}`) })

/** Copies it into the data folder of a server, and makes it before that if it is not there. */
export async function copyGrown(data: string): Promise<void> {
  const made = await makeGrown()
  mkdirSync(data, { recursive: true, mode: 0o700 })
  for (const name of ['counterfoil.db', 'signer.key']) {
    await copyFile(join(made, name), join(data, name), constants.COPYFILE_FICLONE)
  }
}

/** The folder of the one that others are copied from. */
export async function makeGrown(): Promise<string> {
  const schema = readdirSync('drizzle/sqlite').filter((name) => name.endsWith('.sql'))
  const size = `${grown.receipts}-${grown.keys}`
  const folder = join(tmpdir(), 'counterfoil-bench', `${size}-${schema.sort().at(-1)}`)
  if (existsSync(folder)) return folder
  console.log(`making ${grown.receipts} receipts and ${grown.keys} keys, once, in ${folder}`)
  const making = `${folder}-${process.pid}`
  try {
    await fill(making)
    renameSync(making, folder)
  } finally {
    rmSync(making, { recursive: true, force: true })
  }
  return folder
}

async function fill(data: string): Promise<void> {
  mkdirSync(data, { recursive: true, mode: 0o700 })
  await (await serve(data)).stop()
  const key = createKey(data, 'root')
  const child = createKey(data, 'child', '--parent', key.id)
  command(data, 'grant', benchAccount, '1000000', '--reason', 'bench')
  await writeKeys(data)
  await seedRuns({
    data,
    origin: grownEnv.COUNTERFOIL_BASE_URL,
    root: { ...key, account: benchAccount },
    child,
    count: grown.receipts,
  })
  const server = await serve(data)
  for (;;) {
    const headers = { authorization: `Bearer ${key.secret}` }
    const usage = await (await fetch(`${server.origin}/v1/usage`, { headers })).json()
    if ((usage as { uncounted: number }).uncounted === 0) break
    await Bun.sleep(1000)
  }
  await server.stop()
  const db = openSqlite(join(data, 'counterfoil.db'))
  db.raw.run('PRAGMA wal_checkpoint(TRUNCATE)')
  await db.close()
}

async function serve(data: string) {
  const port = freePort()
  const line = [...serveCommand(data, port), '--dev']
  const server = await start({ command: line, env: grownEnv, ready: /COUNTERFOIL_KEY=/ })
  const origin = `http://127.0.0.1:${port}`
  await answers(`${origin}/readyz`)
  return { ...server, origin }
}

type Made = { id: string; secret: string }

function createKey(data: string, name: string, ...more: string[]): Made {
  const of = ['--account', benchAccount, '--name', name, '--cap', '9000000']
  return JSON.parse(command(data, 'key', 'create', ...of, '--json', ...more))
}

function command(data: string, ...words: string[]): string {
  const line = [binary(), ...words, '--data', data]
  const { stdout, stderr, exitCode } = Bun.spawnSync(line, {
    env: environment(grownEnv),
  })
  if (exitCode !== 0) throw new Error(`${words.join(' ')}: ${stderr}`)
  return stdout.toString()
}

/** Keys without money, a hundred an account; each has the one before it as its parent. */
async function writeKeys(data: string): Promise<void> {
  const db = openSqlite(join(data, 'counterfoil.db'))
  const now = systemClock.now()
  for (let at = 0; at < grown.keys; at += 100) {
    const account = accountAt(at / 100, now)
    const keys: KeyRow[] = []
    for (let i = 0; i < 100; i++) keys.push(keyAt(at + i, account.id, keys.at(-1), now))
    const secrets = keys.map(({ id }, i) => {
      return {
        hash: hashSecret(grownSecret(at + i)),
        keyId: id,
        validUntil: null,
        selfRotated: false,
      }
    })
    await db.write(function* () {
      yield* insert(db.tables.accounts, [account])
      yield* insert(db.tables.keys, keys)
      yield* insert(db.tables.keySecrets, secrets)
    })
  }
  await db.close()
}

function accountAt(index: number, createdAt: number): AccountRow {
  const id = `0x${Buffer.from(sha256(`bench account ${index}`)).toString('hex', 0, 20)}`
  return { ...plainAccount, id, createdAt }
}

function keyAt(index: number, accountId: string, before: KeyRow | undefined, now: number): KeyRow {
  const parent = index % grown.levels === 0 ? undefined : before
  const id = `key_${String(index).padStart(26, '0')}`
  return {
    id,
    accountId,
    parentId: parent?.id ?? null,
    lineage: [id, ...(parent?.lineage ?? [])],
    name: `bench-${index}`,
    fingerprint: fingerprintOf(hashSecret(grownSecret(index))),
    capLimit: 1_000_000_000n,
    capWindow: 'lifetime',
    ...plainKey,
    scopes: ['runs:write', 'usage:read', 'keys:read'],
    childrenCount: (index + 1) % grown.levels === 0 ? 0 : 1,
    createdAt: now,
    expiresAt: now + 300 * 86_400_000,
  }
}

if (import.meta.main) console.log(await makeGrown())
