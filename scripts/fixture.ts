/**
 * `bun scripts/fixture.ts`: writes the database of a service of this release to
 * test/fixtures/databases/<version>.sql, and its answers as JSON beside it. Run it once, just
 * before a release, and never again: later builds must open the file.
 * test/storage/db/upgrade.test.ts opens all, and one that it makes of the build at hand.
 *
 * A real service on a loopback port, with a clock and a randomness that only count. Its signer is
 * the first well-known test account; the secret of its key follows from words that stand here.
 */
import type { Database } from 'bun:sqlite'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import packageJson from '../package.json'
import { issueKey } from '../src/access/keys/issue.ts'
import { scopes } from '../src/access/keys/key.ts'
import { revokeKey } from '../src/access/keys/revoke.ts'
import { createApp } from '../src/app/routes.ts'
import { makeDeps } from '../src/app/wiring.ts'
import { subscribe } from '../src/billing/plans/subscribe.ts'
import { loadConfig } from '../src/config/config.ts'
import { sha256 } from '../src/kernel/hash.ts'
import type { Random } from '../src/kernel/random.ts'
import { grantCredit } from '../src/ledger/grant.ts'
import { keepCheckpoint } from '../src/proof/log/checkpoint.ts'
import { createPassport } from '../src/proof/passports/create.ts'
import { backgroundSigner } from '../src/proof/receipts/sign.ts'
import { signerFromHex } from '../src/proof/signer/signer.ts'
import { openSqlite } from '../src/storage/db/engine/sqlite.ts'
import { migrateSqlite } from '../src/storage/db/schema/migrate.ts'
import { serve } from '../src/web/http/serve.ts'

const owner = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const testPrivateKey = 'ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
const usd = 1_000_000_000n

/** Bytes that follow from words: the same at every making, and in the test that opens it. */
export function countedRandom(words: string): Random {
  let drawn = 0
  return {
    bytes(count) {
      const out = new Uint8Array(count)
      for (let at = 0; at < count; at += 32) {
        out.set(sha256(`${words} ${drawn++}`).subarray(0, Math.min(32, count - at)), at)
      }
      return out
    },
  }
}

/** Writes `<base>.sql` and `<base>.json`. */
export async function makeFixture(base: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-fixture-'))
  const db = openSqlite(join(folder, 'counterfoil.db'))
  let now = Date.UTC(2026, 0, 31, 12)
  const clock = { now: () => (now += 7), monotonic: () => now }
  migrateSqlite(db.raw, now, () => {})
  const loaded = loadConfig({
    flags: {},
    env: {},
    filePath: '',
    readFile: () => undefined,
    fileText,
  })
  if ('problems' in loaded) throw new Error(loaded.problems.join('\n'))
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: console.error }
  const deps = await makeDeps({
    config: { ...loaded.config, listen: { hostname: '127.0.0.1', port: 0 } },
    db,
    signer: signerFromHex(testPrivateKey),
    log,
    clock,
    random: countedRandom('counterfoil fixture'),
  })
  const server = serve(createApp(deps), deps.settings.listen)
  const told = await live(deps, `http://localhost:${server.port}`)
  await server.stop(true)
  await deps.sequencer.stop()
  await Bun.write(`${base}.sql`, dump(db.raw))
  await Bun.write(`${base}.json`, `${JSON.stringify(told, null, 2)}\n`)
  await db.close()
  rmSync(folder, { recursive: true })
}

/** Prices that make money move, and an upstream that is not there. */
export const fileText = `
base_url = "https://gw.example"
[[plans]]
id = "builder"
[[upstreams]]
id = "gone"
base_url = "http://127.0.0.1:9/v1"
[[models]]
id = "counterfoil/echo-1"
input_pusd = 150_000
output_pusd = 600_000
[[models]]
id = "acme/gone"
route = ["gone:gone"]
kind = "chat"
context_tokens = 1000
max_output_tokens = 100
input_pusd = 150_000
output_pusd = 600_000
`

/** A little of everything that leaves a trace; returns what was told about it. */
async function live(deps: Awaited<ReturnType<typeof makeDeps>>, origin: string) {
  const grant = { account: owner, amount: 50n * usd, reason: 'fixture', actor: 'operator' }
  await grantCredit(deps, grant)
  const wish = { account: owner, capLimit: 20n * usd, scopes: [...scopes], actor: owner }
  const random = countedRandom('counterfoil fixture key')
  const kept = await issueKey({ ...deps, random }, { ...wish, name: 'kept', capWindow: 'day' })
  const parent = { ...wish, parentId: kept.key.id, name: 'child', capWindow: 'lifetime' as const }
  const child = await issueKey(deps, { ...parent, capLimit: usd })
  const plan = deps.plans.find('builder')
  if (!plan) throw new Error('there is no plan builder')
  await subscribe(deps, { account: owner, plan })
  const profile = { displayName: 'Old', kind: 'agent' as const }
  await createPassport(deps, { account: owner, handle: 'old-timer', ...profile })

  const call = async (path: string, json: object, more: { key?: string; once?: string } = {}) => {
    const headers = {
      'content-type': 'application/json',
      authorization: `Bearer ${more.key ?? kept.secret}`,
      ...(more.once ? { 'idempotency-key': more.once } : {}),
    }
    const answer = await fetch(origin + path, {
      method: 'POST',
      headers,
      body: JSON.stringify(json),
    })
    return { status: answer.status, text: await answer.text() }
  }
  const chat = { model: 'counterfoil/echo-1', messages: [{ role: 'user', content: 'to be kept' }] }
  const statuses = [
    await call('/v1/chat/completions', chat),
    await call('/v1/chat/completions', { ...chat, stream: true }, { key: child.secret }),
    await call('/v1/embeddings', { model: 'counterfoil/embed-1', input: 'to be kept' }),
    await call('/v1/runs', { ...chat, tags: { job: 'fixture' } }, { once: 'fixture-1' }),
    await call('/v1/chat/completions', { ...chat, model: 'acme/gone' }),
  ].map(({ status }) => status)
  await revokeKey(deps, { keyId: child.key.id, actor: owner })
  await deps.keys.writeUses()
  await deps.sequencer.flush()
  await backgroundSigner(deps)()
  await keepCheckpoint(deps)

  const headers = { authorization: `Bearer ${kept.secret}` }
  const get = async (path: string) => (await fetch(origin + path, { headers })).json()
  const { data } = (await get('/v1/receipts')) as { data: { id: string }[] }
  const shared = await call(`/v1/receipts/${data[0]?.id}/share`, {
    visibility: 'public',
    reveal: [],
  })
  statuses.push(shared.status)
  const receipts = await Promise.all(data.map(({ id }) => get(`/v1/receipts/${id}`)))
  const balance = String((await deps.accounts.find(owner))?.balance)
  const proofs = await Promise.all(data.map(({ id }) => get(`/v1/receipts/${id}/proof`)))
  return { until: deps.clock.now(), account: owner, balance, statuses, receipts, proofs }
}

/** The whole database as SQL, tables before what depends on them, in an order that stays. */
function dump(raw: Database): string {
  const objects = raw
    .query<{ type: string; name: string; sql: string }, []>(
      'select type, name, sql from sqlite_master where sql is not null ' +
        "and name not like 'sqlite_%' order by type = 'table' desc, type, name",
    )
    .all()
  const tables = objects.filter(({ type }) => type === 'table')
  const [stamp] = raw.query<{ application_id: bigint }, []>('PRAGMA application_id').all()
  return [
    'PRAGMA foreign_keys = OFF;',
    `PRAGMA application_id = ${stamp?.application_id};`,
    ...tables.map(({ sql }) => `${sql};`),
    ...tables.flatMap(({ name }) => rowsOf(raw, name)),
    ...objects.filter(({ type }) => type !== 'table').map(({ sql }) => `${sql};`),
    '',
  ].join('\n')
}

function rowsOf(raw: Database, table: string): string[] {
  const columns = raw.query<{ name: string }, []>(`select name from pragma_table_info('${table}')`)
  const quoted = columns.all().map(({ name }) => `quote("${name}")`)
  const rows = raw.query<{ line: string }, []>(
    `select ${quoted.join(" || ',' || ")} as line from "${table}" order by 1`,
  )
  return rows.all().map(({ line }) => `insert into "${table}" values (${line});`)
}

if (import.meta.main) {
  const base = `test/fixtures/databases/${packageJson.version}`
  await makeFixture(base)
  console.log(`${base}.sql`, Bun.file(`${base}.sql`).size)
}
