import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { originOf, shardIn } from '../../../src/app/settings.ts'
import { logsOf, nextOrigin } from '../../../src/proof/log/logs.ts'
import { ensureShard } from '../../../src/proof/log/store/shard.ts'
import type { Db } from '../../../src/storage/db/engine/db.ts'
import { findFact } from '../../../src/storage/db/sql/facts.ts'
import { promise } from '../../support/promise.ts'
import { outcomeOf } from '../../support/rejection.ts'
import { configOf, engines, freshDb, usd, type World, world } from '../../support/world.ts'
import { halves, mapFile, ofS3 } from './shards.ts'

setDefaultTimeout(60_000)

const configFor = (id: string, map = halves) =>
  configOf(`[shard]\nid = "${id}"\nmap = "${mapFile(map)}"\n`)
const shardOf = (id: string, map?: string) => shardIn(configFor(id, map))

describe.each(engines)('a database, on %s', (engine) => {
  let db: Db
  let drop: () => Promise<void>
  beforeAll(async () => {
    const fresh = await freshDb(engine)
    db = fresh.db
    drop = fresh.drop
  })
  afterAll(async () => {
    await db.close()
    await drop()
  })
  const startAs = (shard: ReturnType<typeof shardOf>) => db.write((q) => ensureShard(db, q, shard))

  promise`Q1`
  test('stays without a shard until one is set, then is that one for good', async () => {
    await startAs(undefined)
    expect(await findFact(db, 'shard')).toBeUndefined()
    await startAs(shardOf('s3'))
    await startAs(shardOf('s3'))
    expect(await findFact(db, 'shard')).toBe('s3 0-511')
    expect(await outcomeOf(startAs(shardOf('s4')))).toThrow(
      /is the shard s3 with the slots "0-511", but the configuration says s4 with .*Correct shard.id/,
    )
    expect(await outcomeOf(startAs(undefined))).toThrow(/but the configuration has no \[shard\]/)
  })

  promise`Q1`
  test('keeps its slots, because the accounts in them stay in it', async () => {
    const larger = halves.replace('0-511', '0-600').replace('512-', '601-')
    expect(await outcomeOf(startAs(shardOf('s3', larger)))).toThrow(
      /slots do not move by configuration, because the accounts in them stay here/,
    )
    // Another shard that shares the others' slots changes nothing here.
    const more = `${halves.replace('512-1023', '512-700')}[s5]\nslots = "701-1023"\n`
    await startAs(shardOf('s3', more))
  })
})

describe('a database that was used without shards', () => {
  let w: World
  beforeAll(async () => {
    w = await world()
    await w.key({ account: ofS3, balance: usd })
  })
  afterAll(() => w.stop())

  promise`Q1`
  test('does not become a shard', async () => {
    const started = w.db.write((q) => ensureShard(w.db, q, shardOf('s3')))
    expect(await outcomeOf(started)).toThrow(/was used without \[shard\], and cannot become/)
  })

  test('has no trace of a shard in its ids, secrets and origins', async () => {
    const { key, secret } = await w.key({ account: ofS3 })
    expect(key.id).toMatch(/^key_01/)
    expect(w.deps.shard).toBeUndefined()
    expect(w.deps.settings.issuer).not.toContain('#')
    expect((await w.call('/v1/keys/self', { key: secret })).status).toBe(200)
    const status = (await (await w.call('/v1/status')).json()) as object
    expect(status).not.toHaveProperty('shard')
  })
})

test('the log of a shard has its id in the origin, and the number of a reopened one behind it', () => {
  const config = { ...configFor('s3'), base_url: 'https://gw.example' }
  const origin = originOf(config)
  expect(origin).toBe('https://gw.example#s3')
  expect(originOf(configOf('base_url = "https://gw.example"'))).toBe('https://gw.example')
  const logs = logsOf([{ origin, start: 0, openedAt: 0, reason: '' }])
  expect(nextOrigin(logs)).toBe('https://gw.example#s3#2')
})
