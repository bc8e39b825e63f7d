import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { privateKeyToAccount } from 'viem/accounts'
import { learnSlots } from '../../../src/app/learn-slots.ts'
import { findMove, moveSlots, moveSteps } from '../../../src/app/move-slots.ts'
import { watchMoves } from '../../../src/app/watch-moves.ts'
import { lookAtMoves } from '../../../src/cli/doctor-cluster.ts'
import { statusOf } from '../../../src/front/status/api.ts'
import { slotOf } from '../../../src/kernel/shard.ts'
import { grantCredit } from '../../../src/ledger/grant.ts'
import { auditStore } from '../../../src/ledger/store/audit.ts'
import { sumLedger } from '../../../src/ledger/store/sums.ts'
import { cancelExport } from '../../../src/storage/slots/store/export-slots.ts'
import { browser, cookieHeader, signInWith } from '../../access/accounts/wallet.ts'
import { pacedModels, startPacedUpstream } from '../../support/paced-upstream.ts'
import { promise } from '../../support/promise.ts'
import { outcomeOf } from '../../support/rejection.ts'
import { until } from '../../support/runs.ts'
import { sharedEngines, usd } from '../../support/world.ts'
import { movingShard } from './moving.ts'
import { keyOfS3, misrouted, ofS3, type ShardWorld, shardWorld } from './shards.ts'

setDefaultTimeout(60_000)

const slot = slotOf(ofS3)
const ask = { model: 'stub/pace-5', input: 'hello' }

describe.each(sharedEngines)('a slot that moves to another shard, on %s', (engine) => {
  let s3: ShardWorld
  let s4: ShardWorld
  let key: { key: { id: string }; secret: string }
  let upstream: Awaited<ReturnType<typeof startPacedUpstream>>
  const granted = 10n * usd
  let spent = 0n

  beforeAll(async () => {
    upstream = await startPacedUpstream()
    const toml = pacedModels(upstream.url)
    s3 = await shardWorld('s3', { engine, toml })
    s4 = await shardWorld('s4', { engine, toml })
    key = await s3.key({ account: ofS3, balance: granted, capLimit: 2n * usd })
  })
  afterAll(async () => {
    await s3.stop()
    await s4.stop()
    await upstream.stop()
  })

  /** What a shard says to its operator of moves whose command is gone. */
  const stalled = async ({ deps, db }: ShardWorld) => {
    await watchMoves(deps, db)
    const { moves, status } = (await statusOf(deps)) as Status
    const found = await lookAtMoves(db)
    const open = moves.filter((one) => one.stalled).length
    expect([open, found.length, status === 'degraded']).toEqual([open, open, open > 0])
    return open
  }
  type Status = { status: string; moves: { stalled: boolean }[] }
  const learn = () => Promise.all([s3, s4].map((w) => learnSlots(w.deps, w.db)))
  const move = (from: ShardWorld, to: ShardWorld, die?: string, waitMs = 5000) =>
    moveSlots({
      from: movingShard(from),
      to: movingShard(to),
      slots: [slot],
      clock: s3.deps.clock,
      waitMs,
      tell: (step) => {
        if (step === die) throw new Error(`died after ${step}`)
      },
    })
  /** One run through a shard: what it cost, or how it was refused. */
  const run = async (at: ShardWorld, model = 'stub/pace-5'): Promise<unknown> => {
    const answer = await at.call('/v1/runs', { key: key.secret, json: { ...ask, model } })
    if (answer.status !== 200) return misrouted(answer)
    const { receipt } = (await answer.json()) as { receipt: { cost_nusd: number } }
    spent += BigInt(receipt.cost_nusd)
    return 'ran'
  }
  /** Balances, what is on its way, and what was spent come to what was granted; both books are right. */
  const judge = async () => {
    let left = 0n
    let sides = 0n
    for (const { db, deps } of [s3, s4]) {
      expect(await auditStore(db).faults(deps.clock.now())).toEqual([])
      const sums = await sumLedger(db)
      left += sums.balance
      sides += sums.sides.shards ?? 0n
    }
    expect(left + sides + spent).toBe(granted)
    return sides
  }

  promise`Q4 C: A slot that moves to another shard takes its money along once: after a crash at any
    step no node of either shard spends it twice, both ledgers are balanced, and the move can
    be finished.`
  test.each([...moveSteps])(
    'The move goes on after a crash right after %s, and never pays twice.',
    async (die) => {
      expect(await run(s3)).toBe('ran')
      expect(await outcomeOf(move(s3, s4, die))).toThrow(`died after ${die}`)
      expect((await judge()) > 0n).toBe(die === 'taken_out')
      // The nodes have not heard of it yet: the rows alone refuse.
      const isIn = die === 'taken_in' || die === 'gone'
      for (const { deps } of [s3, s4]) deps.keys.forgetAll()
      const stale = await Promise.all([run(s3), run(s4)])
      expect(stale.filter((one) => one === 'ran').length).toBe(isIn ? 1 : 0)
      // A valid key is never called unknown.
      expect(stale.flat()).not.toContain(401)
      await learn()
      const first = die === 'gone' ? [421, 'misdirected_request', 's4'] : [503, 'unavailable', null]
      const second = isIn
        ? 'ran'
        : die === 'stopped'
          ? [421, 'misdirected_request', 's3']
          : [503, 'unavailable', null]
      expect([await run(s3), await run(s4)]).toEqual([first, second])
      await judge()
      const isOver = { s3: die === 'gone', s4: isIn || die === 'stopped' }
      expect([await stalled(s3), await stalled(s4)]).toEqual([isOver.s3 ? 0 : 1, isOver.s4 ? 0 : 1])
      if (die !== 'gone') expect(await move(s3, s4)).toMatchObject({ moved: true })
      await learn()
      expect(await judge()).toBe(0n)
      expect([await run(s3), await run(s4)]).toEqual([[421, 'misdirected_request', 's4'], 'ran'])
      expect(await move(s4, s3)).toMatchObject({ moved: true })
      await learn()
      expect([await run(s3), await run(s4)]).toEqual(['ran', [421, 'misdirected_request', 's3']])
      expect([await stalled(s3), await stalled(s4)]).toEqual([0, 0])
      expect(await judge()).toBe(0n)
    },
  )

  promise`Q4`
  test('counts towards a cap what was spent on the other shard', async () => {
    const { cap } = (await (await s3.call('/v1/keys/self', { key: key.secret })).json()) as {
      cap: { spent_nusd: number }
    }
    expect(BigInt(cap.spent_nusd)).toBe(spent)
  })

  promise`Q4`
  test('stays while a run goes on, which ends where it began', async () => {
    const answer = run(s3, 'stub/pace-300')
    await until('the run', () => s3.deps.live.count() === 1)
    await until('its row', async () => (await s3.deps.runs.openHere()).length === 1)
    expect(await move(s3, s4, undefined, 0)).toMatchObject({ moved: false, runs: 1 })
    await learn()
    expect(await answer).toBe('ran')
    expect([await run(s3), await run(s4)]).toEqual(['ran', [421, 'misdirected_request', 's3']])
    await judge()
  })

  test('can move after a crash between both sides of a move that was given up', async () => {
    expect(await outcomeOf(move(s3, s4, 'expected'))).toThrow('died after expected')
    const sides = { from: movingShard(s3), to: movingShard(s4), slots: [slot] }
    const { clock } = s3.deps
    const begun = await findMove({ ...sides, clock, waitMs: 0 })
    const source = { pg: sides.from.db.drizzle, tables: sides.from.db.tables }
    expect(await cancelExport(source, begun, clock.now())).toBe(true)
    expect(await move(s3, s4)).toMatchObject({ moved: true })
    expect(await move(s4, s3)).toMatchObject({ moved: true })
    await learn()
    expect(await run(s3)).toBe('ran')
    await judge()
  })

  promise`Q4`
  test('takes sessions along, and answers of calls with an Idempotency-Key', async () => {
    const visitor = browser(s3)
    expect((await signInWith(visitor, privateKeyToAccount(keyOfS3))).status).toBe(200)
    const once = {
      key: key.secret,
      json: ask,
      headers: { 'idempotency-key': 'once' },
    }
    const first = await (await s3.call('/v1/runs', once)).json()
    spent += BigInt((first as { receipt: { cost_nusd: number } }).receipt.cost_nusd)
    const page = { ...cookieHeader(visitor.jar), accept: 'application/json' }
    const portal = (w: ShardWorld) => w.call('/api/portal/keys', { headers: page })
    expect(await outcomeOf(move(s3, s4, 'taken_out'))).toThrow('died after taken_out')
    // No node has heard of it, and a person stays signed in.
    expect((await portal(s3)).status).toBe(503)
    expect(await move(s3, s4)).toMatchObject({ moved: true })
    await learn()
    const again = await s4.call('/v1/runs', once)
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(await again.json()).toEqual(first)
    const headers = { ...cookieHeader(visitor.jar), accept: 'application/json' }
    expect((await s4.call('/api/portal/keys', { headers })).status).toBe(200)
    const there = await s3.call('/api/portal/keys', { headers })
    expect(await misrouted(there)).toEqual([421, 'misdirected_request', 's4'])
    await judge()
  })

  promise`Q4`
  test('is never opened where it left, by a process that knows nothing about it', async () => {
    const wish = { account: ofS3, amount: usd, reason: 'test', actor: 'test' }
    s3.deps.shard?.learn([])
    expect(await outcomeOf(grantCredit(s3.deps, wish))).toThrow(/belongs to the shard s4/)
    const query = s3.db.write(function* (q) {
      const { accounts } = s3.db.tables
      yield { kind: 'rows', query: q.update(accounts).set({ balance: 1n }), lock: false }
    })
    expect(await outcomeOf(query)).toThrow()
    await learn()
    await judge()
  })
})
