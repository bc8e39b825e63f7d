import { afterEach, describe, expect, test } from 'bun:test'
import { insertOpenRuns } from '../../drills/open-runs.ts'
import type { Ledger } from '../../src/ledger/post.ts'
import { begin } from '../../src/runs/begin.ts'
import { endAbandoned } from '../../src/runs/end-abandoned.ts'
import { liveRuns } from '../../src/runs/live-runs.ts'
import { runStore } from '../../src/runs/store.ts'
import { rows } from '../../src/storage/db/sql/query-steps.ts'
import { promise } from '../support/promise.ts'
import { outcomeOf } from '../support/rejection.ts'
import { allRuns, expectSettled, modelsToml } from '../support/runs.ts'
import { sharedEngines, testAccount, usd, type World, world } from '../support/world.ts'

let w: World
afterEach(() => w.stop())

/** Takes the hold of a run as the engine does, with `ledger` in place of the real one. */
async function hold(ledger: Ledger) {
  const { key } = await w.key({ balance: usd })
  const model = w.deps.catalogue.get('stub/any')
  if (!model) throw new Error('no model')
  const body = { model: model.id, messages: [{ role: 'user', content: 'hi' }] }
  const [plan] = w.deps.plans.list
  if (!plan) throw new Error('no plan')
  const caller = { account: key.accountId, suspended: false, plan, chain: [key], key }
  const rest = { background: false, tags: {}, metadata: {} }
  return begin({ ...w.deps, ledger }, { caller, model, body, received: body, ...rest })
}

const toml = modelsToml('http://127.0.0.1:9', ['any'])

describe('a hold that was taken, but whose answer was lost', () => {
  promise`H6`
  test('goes with the next try to settle, uncharged and with a receipt', async () => {
    w = await world({ toml })
    const { ledger } = w.deps
    let lost = false
    const lossy: Ledger = {
      post: async (command) => {
        const done = await ledger.post(command)
        if (lost) return done
        lost = true
        throw new Error('connection lost')
      },
    }
    expect(await outcomeOf(hold(lossy))).toThrow('connection lost')
    expect(w.deps.live.count()).toBe(0)
    expect(await allRuns(w)).toMatchObject([{ status: 'running', finishedAt: null }])
    await w.deps.live.settleAgain()
    await expectSettled(w)
    expect(await allRuns(w)).toMatchObject([{ status: 'failed', cost: 0n, durationMs: 0 }])
  })

  test('leaves nothing to do where nothing was stored', async () => {
    w = await world({ toml })
    const dead: Ledger = { post: () => Promise.reject(new Error('connection lost')) }
    expect(await outcomeOf(hold(dead))).toThrow('connection lost')
    await w.deps.live.settleAgain()
    expect(await allRuns(w)).toEqual([])
  })
})

describe('the runs of a dead node', () => {
  promise`D7`
  test.each(sharedEngines)(
    'are ended once by two nodes that find them at the same time, on %s',
    async (engine) => {
      w = await world({ engine, toml })
      for (let i = 0; i < 3; i++) w.deps.live.remove((await hold(w.deps.ledger)).id)
      for (let i = 0; i < 3; i++) w.deps.live.release(testAccount, [])
      const { clock } = w.deps
      const nodes = ['a', 'b'].map((node) => ({ ...w.deps, runs: runStore(w.db, node) }))
      // Both look before either ends one.
      const looked = Promise.withResolvers<void>()
      let count = 0
      const ended = await Promise.all(
        nodes.map((node) => {
          const abandoned: typeof node.runs.abandoned = async (...args) => {
            const open = await node.runs.abandoned(...args)
            if (++count === nodes.length) looked.resolve()
            await looked.promise
            return open
          }
          return endAbandoned({ ...node, clock, runs: { ...node.runs, abandoned } })
        }),
      )
      expect(ended.reduce((sum, one) => sum + one, 0)).toBe(3)
      await expectSettled(w)
      expect((await allRuns(w)).map(({ status }) => status)).toEqual(Array(3).fill('interrupted'))
    },
    30_000,
  )
})

describe('very many runs of a dead process', () => {
  promise`K3`
  test('are ended some at a time, each once, by a start and by who comes after it', async () => {
    w = await world()
    const { issuer } = w.deps.settings
    await insertOpenRuns(w.db, { origin: issuer, count: 1100, accounts: 3 })
    expect(await endAbandoned(w.deps, () => true)).toBe(500)
    expect(await endAbandoned(w.deps)).toBe(600)
    expect(await endAbandoned(w.deps)).toBe(0)
    await expectSettled(w)
    const ended = await allRuns(w)
    expect(ended.every(({ outcome, cost }) => outcome === 'interrupted' && cost === 0n)).toBe(true)
    expect(new Set(ended.map(({ logPlace }) => logPlace)).size).toBe(1100)
    const { idempotentCalls } = w.db.tables
    expect(await w.db.read((q) => rows(q.select().from(idempotentCalls)))).toEqual([])
  }, 60_000)
})

describe('settles that are tried again', () => {
  test('are all tried, also behind one that fails again', async () => {
    w = await world()
    const live = liveRuns({ admission: 1 })
    const done: string[] = []
    live.settleLater('run_a', () => Promise.reject(new Error('still full')))
    live.settleLater('run_b', async () => void done.push('run_b'))
    expect(await outcomeOf(live.settleAgain())).toThrow('still full')
    expect(done).toEqual(['run_b'])
    expect(await outcomeOf(live.settleAgain())).toThrow('still full')
    expect(done).toEqual(['run_b'])
  })

  test('are tried together, so that the holds of an outage are free soon', async () => {
    w = await world()
    const live = liveRuns({ admission: 1 })
    let [open, most, done] = [0, 0, 0]
    const settle = async (): Promise<void> => {
      most = Math.max(most, ++open)
      await Bun.sleep(20)
      open--
      done++
    }
    for (let i = 0; i < 300; i++) live.settleLater(`run_${i}`, settle)
    await live.settleAgain()
    expect([done, most]).toEqual([300, 128])
  })
})
