import type { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { stepAt, stepsOf } from '../../../src/billing/usage/chart-steps.ts'
import { type Grouping, usageOf } from '../../../src/billing/usage/sum.ts'
import { providerOf } from '../../../src/billing/usage/usage.ts'
import { dayAway, dayOfDate } from '../../../src/kernel/zone.ts'
import type { EndedRun } from '../../../src/storage/db/schema/schema.ts'
import { prng } from '../../ledger/prng.ts'
import { engines, testAccount, type World, world } from '../../support/world.ts'
import { addReceipts, countAll } from './receipts.ts'

const hour = 3_600_000
const start = Date.UTC(2026, 9, 20)
const now = Date.UTC(2026, 10, 2)

describe.each(engines)('sums in time zones on %s', (engine) => {
  let w: World
  let made: EndedRun[]
  beforeAll(async () => {
    w = await world({ engine, now })
    const dice = prng(915)
    const runs = Array.from({ length: 400 }, (_, i) => ({
      accountId: testAccount,
      keyId: dice.pick(['key_1', 'key_2']),
      model: dice.pick(['m/1', 'm/2', 'm/3']),
      route: dice.pick(['acme:m', 'borealis:m', '']),
      tags: dice.pick<Record<string, string>>([{}, { team: 'red' }, { team: 'red', job: 'x' }]),
      finishedAt: start + Math.floor((i * (now - start)) / 400) + dice.below(hour),
    }))
    made = await addReceipts(w, runs.slice(0, 350))
    await countAll(w)
    // The rest is in the log and not counted yet.
    made.push(...(await addReceipts(w, runs.slice(350))))
  }, 60_000)
  afterAll(() => w.stop())

  const periodOf = (zone: string, date: string, days: number) => {
    const from = dayOfDate(zone, Date.parse(date))
    return { from, to: dayAway(zone, from, days) }
  }

  /** Cost and runs by group, from the receipts one by one. */
  function expected(zone: string, date: string, days: number, by: Grouping[]) {
    const period = periodOf(zone, date, days)
    const steps = stepsOf(zone, period)
    const sums = new Map<string, number>()
    for (const run of made) {
      const i = stepAt(steps, run.finishedAt)
      if (i === -1) continue
      const group = [
        by.includes('day') && steps.starts[i],
        by.includes('model') && run.model,
        by.includes('provider') && providerOf(run),
      ]
      const name = JSON.stringify(group.filter((one) => one !== false))
      sums.set(name, (sums.get(name) ?? 0) + 1)
    }
    return sums
  }

  const cases: [zone: string, date: string, days: number, by: Grouping[]][] = [
    ['UTC', '2026-10-21', 11, ['day']],
    ['UTC', '2026-10-26', 7, ['day', 'model']],
    ['Europe/Berlin', '2026-10-21', 11, ['day', 'provider']],
    ['Europe/Berlin', '2026-10-25', 1, ['day']],
    ['Asia/Kathmandu', '2026-10-21', 10, ['day', 'model']],
    ['America/Los_Angeles', '2026-08-01', 95, ['day', 'provider']],
    ['Asia/Kolkata', '2026-10-21', 11, ['provider']],
  ]
  test.each(cases)(
    'of %s from %s for %d days by %p are those of the runs',
    async (zone, date, days, groupBy) => {
      const period = periodOf(zone, date, days)
      const steps = stepsOf(zone, period)
      const wish = { account: testAccount, ...period, steps, groupBy, waits: true }
      const { rows, totals, waits } = await usageOf(w.deps, wish)
      const found = rows.map(({ day, model, provider, runs }) => {
        const group = [day, model, provider].filter((one) => one !== undefined)
        return [JSON.stringify(group), runs] as const
      })
      expect(new Map(found)).toEqual(expected(zone, date, days, groupBy))
      const chats = [...waits.values()].reduce((sum, runs) => sum + runs, 0)
      expect(chats).toBe(totals.runs)
      for (const row of rows) {
        expect([...row.waits.values()].reduce((sum, runs) => sum + runs, 0)).toBe(row.runs)
      }
    },
  )

  test('by tag come from the receipts of the same time', async () => {
    const period = periodOf('Asia/Kathmandu', '2026-10-21', 10)
    const steps = stepsOf('Asia/Kathmandu', period)
    const groupBy = ['day', 'tag'] as const
    const { rows, totals } = await usageOf(w.deps, {
      account: testAccount,
      ...period,
      steps,
      groupBy,
    })
    const mine = made.filter(({ finishedAt: at }) => period.from <= at && at < period.to)
    expect(totals.runs).toBe(mine.length)
    const red = rows.filter(({ tag }) => tag?.name === 'team')
    expect(red.reduce((sum, { runs }) => sum + runs, 0)).toBe(
      mine.filter(({ tags }) => tags['team'] === 'red').length,
    )
  })
})

test('sums of a zone are found by account and time, however much others used', async () => {
  const w = await world({ now })
  try {
    const raw = (w.db as typeof w.db & { raw: Database }).raw
    const texts = new Set<string>()
    const prepare = raw.prepare.bind(raw)
    raw.prepare = ((text: string, ...rest: []) => {
      texts.add(text)
      return prepare(text, ...rest)
    }) as typeof raw.prepare
    const from = dayOfDate('Asia/Kolkata', now)
    const period = { from, to: dayAway('Asia/Kolkata', from, 2) }
    for (const groupBy of [['day', 'model'], ['provider']] as Grouping[][]) {
      const steps = stepsOf('Asia/Kolkata', period)
      await usageOf(w.deps, { account: testAccount, ...period, steps, groupBy, waits: true })
    }
    raw.prepare = prepare
    const asked = [...texts].filter((text) => /usage_quarters|first_tokens/.test(text))
    expect(asked.length).toBe(4)
    for (const text of asked) {
      const plan = raw.prepare<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${text}`).all()
      expect(plan[0]?.detail).toMatch(/^SEARCH .* \(account_id=\? AND at>\? AND at<\?\)$/)
    }
  } finally {
    await w.stop()
  }
})
