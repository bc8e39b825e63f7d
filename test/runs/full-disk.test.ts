import type { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { rows } from '../../src/storage/db/sql/query-steps.ts'
import { fault, promise } from '../support/promise.ts'
import {
  allRuns,
  eventsOf,
  expectSettled,
  modelsToml,
  moneyOf,
  receiptIdOf,
  until,
} from '../support/runs.ts'
import { type StubHandler, startStubUpstream, stubUsage } from '../support/stub-upstream.ts'
import { usd, type World, world } from '../support/world.ts'

/** Answers when it is let go. */
let gate = Promise.withResolvers<void>()
const waits: StubHandler = async (call, response) => {
  await gate.promise
  const choice = { index: 0, finish_reason: 'stop' }
  const said = { role: 'assistant', content: 'x'.repeat(50) }
  if (call.body['stream'] === true) {
    const chunk = { choices: [{ ...choice, delta: said }], usage: stubUsage }
    response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`)
  } else {
    const answer = { choices: [{ ...choice, message: said }], usage: stubUsage }
    response.end(JSON.stringify(answer))
  }
}

/** Two ways in which SQLite cannot store the end of a run, and how they pass. */
type Trouble = {
  begin(raw: Database): void
  end(raw: Database): void
  /** What those are told whose run could not be stored. */
  answer: [status: number, type: string]
}
const troubles: Record<string, Trouble> = {
  'a COMMIT that fails': {
    answer: [500, 'internal_error'],
    begin: (raw) => {
      raw.run('CREATE TABLE p (id INTEGER PRIMARY KEY)')
      raw.run('CREATE TABLE c (id INTEGER REFERENCES p (id) DEFERRABLE INITIALLY DEFERRED)')
      raw.run('CREATE TRIGGER t AFTER INSERT ON runs BEGIN INSERT INTO c VALUES (1); END')
    },
    end: (raw) => raw.run('DROP TRIGGER t'),
  },
  'a disk that is full': {
    answer: [503, 'unavailable'],
    begin: (raw) => {
      const { page_count } = raw.query('PRAGMA page_count').get() as { page_count: bigint }
      raw.run(`PRAGMA max_page_count = ${page_count}`)
    },
    end: (raw) => raw.run('PRAGMA max_page_count = 4294967294'),
  },
}

for (const [what, trouble] of Object.entries(troubles)) {
  const [status, type] = trouble.answer
  describe(`${what} at the end of runs`, () => {
    let stub: Awaited<ReturnType<typeof startStubUpstream>>
    let w: World
    let secret: string
    let raw: Database

    beforeEach(async () => {
      gate = Promise.withResolvers()
      stub = await startStubUpstream({ handler: waits })
      w = await world({ toml: modelsToml(stub.url, ['wait']) })
      raw = (w.db as typeof w.db & { raw: Database }).raw
      secret = (await w.key({ balance: usd })).secret
    })
    afterEach(async () => {
      await w.stop()
      await stub.stop()
    })

    const count = 40
    const run = (stream: boolean) => {
      const json = { model: 'stub/wait', messages: [{ role: 'user', content: 'hi' }], stream }
      return w.call('/v1/chat/completions', { key: secret, json })
    }

    /** Holds for all of them, then trouble, then their upstream answers. */
    async function runAll(stream: boolean) {
      const answers = Array.from({ length: count }, () => run(stream))
      await until('the upstream to have all', () => stub.counts.active === count)
      trouble.begin(raw)
      gate.resolve()
      return Promise.all(
        (await Promise.all(answers)).map(async (answer) => {
          return { status: answer.status, text: await answer.text() }
        }),
      )
    }

    const paidFor = async () => {
      const { journal } = w.db.views
      const all = await w.db.read((q) => rows(q.select().from(journal)))
      return all.filter(({ kind }) => kind === 'run').length
    }

    promise`K5`
    fault`12`
    test('is a 5xx that charges nothing; the hold goes when there is space', async () => {
      const answers = await runAll(false)
      const failed = answers.filter((answer) => answer.status === status)
      const paid = answers.filter((answer) => answer.status === 200)
      expect(failed.length).toBeGreaterThan(0)
      expect(failed.length + paid.length).toBe(count)
      for (const { text } of failed) {
        const { error } = JSON.parse(text)
        expect(error.type).toBe(type)
        expect(text).not.toMatch(/SQLITE|disk|FOREIGN|constraint/i)
      }
      expect(await paidFor()).toBe(paid.length)
      const stuck = await moneyOf(w, secret)
      expect(stuck.held_nusd).toBeGreaterThan(0)
      await w.deps.live.settleAgain().catch(() => undefined)
      // A full disk may have room for one settle where it had none for many.
      const open = (await allRuns(w)).filter(({ finishedAt }) => finishedAt === null)
      const holds = open.reduce((sum, { hold }) => sum + hold, 0n)
      expect((await moneyOf(w, secret)).held_nusd).toBe(Number(holds))

      trouble.end(raw)
      await w.deps.live.settleAgain()
      await w.deps.live.settleAgain()
      await expectSettled(w)
      const runs = await allRuns(w)
      expect(runs.filter(({ status }) => status === 'succeeded')).toHaveLength(paid.length)
      expect(runs.filter(({ status }) => status === 'failed')).toHaveLength(failed.length)
      for (const { id } of runs) expect(await receiptIdOf(w, secret, id)).toStartWith('rcpt_')
      expect(await paidFor()).toBe(paid.length)
      const spent = paid.length * (7 * 1000 + 5 * 2000)
      expect((await moneyOf(w, secret)).balance_nusd).toBe(Number(usd) - spent)
      expect((await run(false)).status).toBe(200)
      await expectSettled(w)
    })

    test('in a stream is an error in band: no receipt, no [DONE], no charge', async () => {
      const answers = await runAll(true)
      const failed = answers.filter(({ text }) => !text.includes('[DONE]'))
      expect(failed.length).toBeGreaterThan(0)
      for (const { text } of failed) {
        expect(text).not.toContain('"receipt":')
        expect(text).toContain(type)
        expect(eventsOf(`${text}\n\n`).length).toBeLessThanOrEqual(2)
      }
      expect(await paidFor()).toBe(count - failed.length)
      trouble.end(raw)
      await w.deps.live.settleAgain()
      await expectSettled(w)
      expect(await paidFor()).toBe(count - failed.length)
    })
  })
}
