import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readDays } from '../../../src/billing/statement/days.ts'
import { exportStatement } from '../../../src/billing/statement/export.ts'
import type { Movement, Place } from '../../../src/billing/statement/movement.ts'
import { changeOf } from '../../../src/ledger/number-transfers.ts'
import { auditStore } from '../../../src/ledger/store/audit.ts'
import { prng } from '../../ledger/prng.ts'
import { soldPlansToml } from '../../support/plans.ts'
import { promise } from '../../support/promise.ts'
import { engines, type World, world } from '../../support/world.ts'
import { journalOf, liveThrough } from './history.ts'

const sum = (amounts: bigint[]): bigint => amounts.reduce((total, one) => total + one, 0n)

describe.each(engines)('a statement on %s', (engine) => {
  let w: World
  beforeAll(async () => {
    w = await world({ engine, now: Date.UTC(2026, 0, 31, 22), toml: soldPlansToml })
  }, 60_000)
  afterAll(async () => {
    expect(await auditStore(w.db).whole(w.deps.clock.now() + 10 ** 9)).toEqual([])
    await w.stop()
  })

  const pagesOf = async (account: string, limit: number) => {
    const lines: Movement[] = []
    let after: Place | undefined
    for (;;) {
      const { items, hasMore } = await w.deps.statements.list(account, { limit, after })
      lines.push(...items)
      after = items.at(-1)
      if (!hasMore) return lines
    }
  }

  promise`D1`
  test.each([1, 2, 3, 4])(
    'adds up to the balance: every line, every page, every day, the file (history %d)',
    async (seed) => {
      const dice = prng(seed)
      const [own, other] = await Promise.all([
        liveThrough(w, dice, 60),
        liveThrough(w, prng(seed + 100), 20),
      ])
      const { account } = own
      const { balance, moves } = await own.row()
      const journal = await journalOf(w, account)
      expect(journal.map(({ seq }) => seq)).toEqual(journal.map((_, i) => i + 1))
      expect(moves).toBe(journal.length)

      const lines = await pagesOf(account, 1 + dice.below(20))
      expect(lines.map(({ ref, kind }) => `${ref} ${kind}`)).toEqual(
        journal.toReversed().map(({ ref, kind }) => `${ref} ${kind}`),
      )
      expect(lines[0]?.balance).toBe(balance)
      expect(sum(lines.map(changeOf))).toBe(balance)
      lines.forEach((line, i) => {
        const before = lines[i + 1]
        expect(line.balance).toBe((before?.balance ?? 0n) + changeOf(line))
        expect(line.at).toBeGreaterThanOrEqual(before?.at ?? 0)
      })

      let before: number | undefined
      let closing = balance
      let count = 0
      for (;;) {
        const { days, hasMore } = await readDays(w.deps, account, { before, limit: 3 })
        for (const day of days) {
          expect(day.closing).toBe(closing)
          expect(day.runs.count).toBeGreaterThanOrEqual(0)
          expect(day.opening + day.runs.amount + sum(day.others.map(changeOf))).toBe(day.closing)
          expect(day.others.filter(({ kind }) => kind === 'run')).toEqual([])
          count += day.runs.count + day.others.length
          closing = day.opening
        }
        before = days.at(-1)?.day
        if (!hasMore) break
      }
      expect(closing).toBe(0n)
      expect(count).toBe(journal.length)

      const file = await exportStatement(w.deps, account)
      let text = ''
      for await (const piece of file.open(new AbortController().signal)) text += piece
      const rows = text.trimEnd().split('\r\n').slice(1)
      expect(rows).toHaveLength(journal.length)
      const fields = rows.map((row) => row.split(','))
      expect(sum(fields.map((row) => BigInt(row[5] ?? 0)))).toBe(balance)
      expect(BigInt(fields.at(-1)?.[7] ?? -1)).toBe(balance)
      expect(other.account).not.toBe(account)
      expect(text).not.toContain((await journalOf(w, other.account))[0]?.ref ?? 'none')
    },
    60_000,
  )

  test('of an account that nothing happened to is empty', async () => {
    const account = `0x${'c'.repeat(40)}`
    expect(await pagesOf(account, 10)).toEqual([])
    const none = await readDays(w.deps, account, { before: undefined, limit: 10 })
    expect(none).toEqual({ days: [], hasMore: false })
  })
})
