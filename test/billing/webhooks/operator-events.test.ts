import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { asc } from 'drizzle-orm'
import { tellExpiring } from '../../../src/access/keys/store/expiring.ts'
import { operatorTeller } from '../../../src/app/operator-events.ts'
import { troubleStore } from '../../../src/billing/webhooks/store/troubles.ts'
import { nodeLease, takeLease } from '../../../src/storage/db/engine/lease.ts'
import { noteBackup } from '../../../src/storage/db/files/backup.ts'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { newAccount } from '../../ledger/office.ts'
import { promise } from '../../support/promise.ts'
import { modelToml, until } from '../../support/runs.ts'
import { engines, usd, type World, world } from '../../support/world.ts'

setDefaultTimeout(60_000)

const dayMs = 86_400_000
const closedPort = 'http://127.0.0.1:9/v1'
const toml = `
[[upstreams]]
id = "down"
base_url = "${closedPort}"
breaker_failures = 1
breaker_cooldown_ms = 600_000
${modelToml('down/any', '"down:any"')}`

describe.each(engines)('what the operator is told on %s', (engine) => {
  let w: World
  beforeAll(async () => {
    w = await world({ engine, toml, now: Date.now() })
  })
  afterAll(() => w.stop())

  const told = async (account = '') => {
    const { events } = w.db.tables
    const all = await w.db.read((q) => rows(q.select().from(events).orderBy(asc(events.place))))
    return all.filter(({ accountId }) => accountId === account)
  }
  const typesOf = async () => (await told()).map(({ type }) => type)
  /** A node of the same database: what it sees by itself and in the tables. */
  const nodeOf = (name: string) => {
    const { leaseClock: clock } = w.deps
    const health = { ...w.deps.health, ledger: 'balanced' as 'balanced' | 'unbalanced' }
    const troubles = troubleStore(w.db, { clock, node: name })
    const lives = () => takeLease(w.db, clock, nodeLease(name), name)
    return { health, lives, look: operatorTeller({ ...w.deps, health, troubles }) }
  }

  promise`E21 H: The operator hears of each trouble once, and again only after it was over.`
  test('A trouble is told when the first node sees it and when the last does no more, not at every look.', async () => {
    const [one, two] = [nodeOf('node_1'), nodeOf('node_2')]
    const look = async () => {
      for (const node of [one, two]) await node.lives()
      for (const node of [one, two, one, two]) await node.look()
      w.advance(61_000)
    }
    await look()
    expect(await typesOf()).toEqual([])
    one.health.ledger = 'unbalanced'
    two.health.ledger = 'unbalanced'
    const { secret } = await w.key({ balance: 10n * usd })
    const run = { model: 'down/any', input: 'hello', max_output_tokens: 50 }
    const asking = new AbortController()
    const asked = w.call('/v1/runs', { key: secret, json: run, signal: asking.signal })
    const asleep = asked.catch(() => {})
    const circuit = () => w.deps.upstreams.get('down')?.breaker?.().state
    await until('an open circuit', () => circuit() === 'open')
    asking.abort()
    await asleep
    await look()
    await look()
    expect((await typesOf()).sort()).toEqual(['ledger.unbalanced', 'upstream.opened'])
    // One of them finds it whole again, the other one not yet: nothing is over.
    one.health.ledger = 'balanced'
    await look()
    one.health.ledger = 'unbalanced'
    await look()
    expect(await typesOf()).toHaveLength(2)
    one.health.ledger = 'balanced'
    two.health.ledger = 'balanced'
    await look()
    two.health.ledger = 'unbalanced'
    await look()
    expect((await typesOf()).filter((type) => type === 'ledger.unbalanced')).toHaveLength(2)
  })

  test('A backup that grew old is told once, and again after a newer one grew old too.', async () => {
    const node = nodeOf('node_b')
    const look = async () => {
      w.advance(61_000)
      await node.lives()
      await node.look()
    }
    const stale = async () => (await typesOf()).filter((type) => type === 'backup.stale').length
    await look()
    expect(await stale()).toBe(0)
    await noteBackup(w.db, new Date(w.deps.clock.now() - 8 * dayMs).toISOString())
    await look()
    await look()
    expect(await stale()).toBe(1)
    await noteBackup(w.db, new Date(w.deps.clock.now()).toISOString())
    await look()
    expect(await stale()).toBe(1)
    w.advance(8 * dayMs)
    await look()
    expect(await stale()).toBe(2)
  })

  test('A key is told seven days before its end and one day before, once each, by all nodes together.', async () => {
    const account = newAccount()
    const now = w.deps.clock.now()
    const make = async (days: number) =>
      (await w.key({ account, balance: 1n, expiresAt: now + days * dayMs })).key.id
    const [far, near, nearer] = [await make(20), await make(5), await make(0.5)]
    const same = [await make(3), await make(3), await make(3)]
    const gone = await make(2)
    const { key } = { key: gone }
    await w.deps.ledger.post({
      account,
      keys: [key],
      decide(unit) {
        const row = unit.key(key)
        if (!row) throw new Error('no key')
        row.revokedAt = unit.now
        unit.changed('key', row)
      },
    })
    const look = () => Promise.all([1, 2].map(() => tellExpiring(w.db, w.deps.clock.now(), 2)))
    const expiring = async () =>
      (await told(account))
        .filter(({ type }) => type === 'key.expiring')
        .map(({ subject, data }) => `${subject} ${data.days}`)
        .sort()
    const first = [`${near} 7`, `${nearer} 1`, ...same.map((id) => `${id} 7`)].sort()
    await look()
    await look()
    expect(await expiring()).toEqual(first)
    w.advance(4.5 * dayMs)
    await look()
    await look()
    expect(await expiring()).toEqual([...first, `${near} 1`].sort())
    w.advance(9 * dayMs)
    await look()
    expect(await expiring()).toEqual([...first, `${near} 1`, `${far} 7`].sort())
  })
})
