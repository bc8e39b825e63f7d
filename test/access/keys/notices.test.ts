import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { issueKey } from '../../../src/access/keys/issue.ts'
import type { Caller } from '../../../src/access/keys/key.ts'
import { pauseKey } from '../../../src/access/keys/pause.ts'
import { revokeKey } from '../../../src/access/keys/revoke.ts'
import { hashSecret } from '../../../src/access/keys/secret.ts'
import { makeDeps, type Service } from '../../../src/app/wiring.ts'
import { suspendAccount } from '../../../src/front/admin/suspend.ts'
import { systemRandom } from '../../../src/kernel/random.ts'
import { signerFromHex } from '../../../src/proof/signer/signer.ts'
import { openPostgres } from '../../../src/storage/db/engine/postgres.ts'
import { migratePostgres } from '../../../src/storage/db/schema/migrate.ts'
import { type EmptyDatabase, emptyDatabase, postgresServer } from '../../support/postgres.ts'
import { until } from '../../support/runs.ts'
import { configOf, testPrivateKey, usd } from '../../support/world.ts'

const withinMs = 30_000
const quiet = () => {}
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet }
const startedAt = Date.now()
/** It stands still: what a node remembers is never too old, so that only news can tell it. */
const clock = { now: () => startedAt, monotonic: () => 0 }

type Node = { db: ReturnType<typeof openPostgres>; deps: Service }

describe.skipIf(!postgresServer)('a node that remembers a key hears from another', () => {
  let database: EmptyDatabase
  let one: Node
  let two: Node
  const open = async (): Promise<Node> => {
    const db = openPostgres(database.url)
    await migratePostgres(db.drizzle, 0)
    const config = { ...configOf(''), listen: { hostname: '127.0.0.1', port: 0 } }
    const deps = await makeDeps({ config, db, signer: signerFromHex(testPrivateKey), log, clock })
    return { db, deps }
  }
  beforeAll(async () => {
    database = await emptyDatabase()
    one = await open()
    two = await open()
    await two.db.notices?.hear((notice) => void two.deps.keys.hear(notice))
  }, withinMs)
  afterAll(async () => {
    for (const node of [one, two]) {
      await node?.deps.sequencer.stop()
      await node?.db.close()
    }
    await database?.drop()
  }, withinMs)

  const account = `0x${Buffer.from(systemRandom().bytes(20)).toString('hex')}`
  const make = (parentId?: string) =>
    issueKey(one.deps, {
      account,
      parentId,
      name: 'test',
      capLimit: usd,
      capWindow: 'lifetime',
      actor: 'test',
    })
  const found = (secret: string) => two.deps.keys.findCaller(hashSecret(secret))
  /** A key and one below it, both of which the other node remembers. */
  const remembered = async () => {
    const key = await make()
    const child = await make(key.key.id)
    await found(child.secret)
    const known = found(child.secret)
    expect(known).not.toBeInstanceOf(Promise)
    return { id: key.key.id, secret: child.secret }
  }
  const untilFound = (secret: string, is: (caller: Caller) => boolean) =>
    until(
      'the news',
      async () => {
        const caller = await found(secret)
        return caller !== undefined && is(caller)
      },
      withinMs,
    )

  test('that it was revoked, and with it every key below', async () => {
    const { id, secret } = await remembered()
    await revokeKey(one.deps, { keyId: id, actor: 'test' })
    await untilFound(secret, ({ key }) => key.revokedAt !== null)
  }, 60_000)

  test('The other node hears that the key was paused.', async () => {
    const { id, secret } = await remembered()
    await pauseKey(one.deps, { keyId: id, actor: 'test' })
    await untilFound(secret, ({ chain }) => chain.some(({ pausedAt }) => pausedAt !== null))
  }, 60_000)

  test('that its account was suspended', async () => {
    const { secret } = await remembered()
    await suspendAccount(one.deps, { account, reason: 'test', actor: 'operator' })
    await untilFound(secret, ({ suspended }) => suspended)
  }, 60_000)
})
