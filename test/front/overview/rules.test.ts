import { describe, expect, test } from 'bun:test'
import type { ShownKey } from '../../../src/access/keys/shown-key.ts'
import { alertsOf } from '../../../src/front/overview/alerts.ts'
import { Alerts } from '../../../src/front/overview/portal/alerts.tsx'
import { lastingOf, spendOf } from '../../../src/front/overview/spend.ts'
import type { KeyRow } from '../../../src/storage/db/schema/schema.ts'
import { renderChild } from '../../../src/web/ui/jsx-runtime.ts'

const usd = 1_000_000_000n
const dayMs = 86_400_000
const hourMs = 3_600_000
/** Noon. */
const now = Date.UTC(2026, 10, 21, 12)
const today = Date.UTC(2026, 10, 21)

describe('spending', () => {
  test('every day has a place, today the last', () => {
    const rows = [
      { day: today - 29 * dayMs, cost: 3n, runs: 2 },
      { day: today, cost: 5n, runs: 1 },
    ]
    const { days, total, runs } = spendOf(rows, today)
    expect([days.length, days.at(0)?.cost, days.at(-1)?.cost]).toEqual([30, 3n, 5n])
    expect([total, runs]).toEqual([8n, 3])
  })

  const spent = (...lately: number[]) =>
    spendOf(
      lately.map((dollars, i) => {
        const day = today - (lately.length - 1 - i) * dayMs
        return { day, cost: BigInt(dollars) * usd, runs: 1 }
      }),
      today,
    )

  test.each([
    ['nothing was ever spent', spent(0), 10n, undefined],
    ['it began today: today is the pace', spent(2), 10n, { days: 5, perDay: 2n }],
    ['it began yesterday: a day and a half', spent(2, 1), 10n, { days: 5, perDay: 2n }],
    ['older days than seven do not count', spent(99, 0, 0, 0, 0, 0, 13, 0), 10n, undefined],
    ['nothing is left', spent(2), 0n, { days: 0, perDay: 2n }],
    ['less than nothing is left', spent(2), -1n, { days: 0, perDay: 2n }],
  ])('lasts: %s', (name, spend, dollars, expected) => {
    const found = lastingOf(dollars * usd, spend, now)
    if (name.startsWith('older')) expect(found?.days).toBe(1)
    else expect(found).toEqual(expected && { ...expected, perDay: expected.perDay * usd })
  })
})

describe('alerts', () => {
  const keyOf = (change: Partial<KeyRow>, spent = 0n, above: KeyRow[] = []): ShownKey => {
    const id = change.id ?? 'key_a'
    const key = {
      id,
      name: id,
      accountId: '0x1',
      capLimit: 10n * usd,
      capWindow: 'lifetime',
      expiresAt: now + 90 * dayMs,
      pausedAt: null,
      revokedAt: null,
      lineage: [id, ...above.map((one) => one.id)],
      ...change,
    } as KeyRow
    const window = { keyId: id, windowStart: 0, limit: key.capLimit, spent, held: 0n, told: null }
    return { key, chain: [key, ...above], window, overlapUntil: null }
  }
  const quiet = {
    now,
    available: 10n * usd,
    lasting: undefined,
    keys: [],
    spentToday: new Map<string, bigint>(),
    isDiverged: false,
    isUnbalanced: false,
    isDegraded: false,
  }
  const kindsOf = (found: Partial<Parameters<typeof alertsOf>[0]>) =>
    alertsOf({ ...quiet, ...found }).map(({ kind }) => kind)

  test('nothing, where nothing is wrong', () => {
    expect(kindsOf({ keys: [keyOf({}, 7n * usd)] })).toEqual([])
  })

  test('the service first, its worst fault alone', () => {
    expect(kindsOf({ isDiverged: true, isDegraded: true, available: 0n })).toEqual([
      'log_diverged',
      'balance_used_up',
    ])
    expect(kindsOf({ isUnbalanced: true, isDegraded: true })).toEqual(['unbalanced'])
    expect(kindsOf({ isDegraded: true })).toEqual(['degraded'])
  })

  test('a balance that lasts less than three days', () => {
    expect(kindsOf({ lasting: { days: 2, perDay: usd } })).toEqual(['balance_low'])
    expect(kindsOf({ lasting: { days: 3, perDay: usd } })).toEqual([])
    expect(kindsOf({ available: undefined })).toEqual([])
  })

  test('a cap from 80 % on, with the pace of today, that of the keys below included', () => {
    const parent = keyOf({ id: 'key_p' }, 9n * usd)
    const child = keyOf({ id: 'key_c', capLimit: 100n * usd }, 0n, [parent.key])
    const spentToday = new Map([['key_c', 6n * usd]])
    const [alert] = alertsOf({ ...quiet, keys: [parent, child], spentToday })
    expect(alert).toMatchObject({ kind: 'cap_near', left: usd, stopsInMs: 2 * hourMs })
  })

  test('a cap that starts again before it is reached has no time to stop', () => {
    const key = keyOf({ capWindow: 'day' }, 8n * usd)
    const [slow] = alertsOf({ ...quiet, keys: [key], spentToday: new Map([['key_a', usd]]) })
    expect(slow).toMatchObject({ kind: 'cap_near', stopsInMs: undefined })
    const [none] = alertsOf({ ...quiet, keys: [key] })
    expect(none).toMatchObject({ kind: 'cap_near', stopsInMs: undefined })
  })

  test('a cap that is used up, and when it starts again', () => {
    const [alert] = alertsOf({ ...quiet, keys: [keyOf({ capWindow: 'day' }, 10n * usd)] })
    expect(alert).toMatchObject({ kind: 'cap_used_up', resetsAt: today + dayMs })
  })

  test('a key that expires within three days', () => {
    expect(kindsOf({ keys: [keyOf({ expiresAt: now + 3 * dayMs })] })).toEqual(['key_expires'])
    expect(kindsOf({ keys: [keyOf({ expiresAt: now + 3 * dayMs + 1 })] })).toEqual([])
  })

  test('nothing of keys that cannot be used anyway', () => {
    const keys = [
      keyOf({ revokedAt: 1 }, 10n * usd),
      keyOf({ pausedAt: 1 }, 10n * usd),
      keyOf({ expiresAt: now }, 10n * usd),
    ]
    expect(kindsOf({ keys })).toEqual([])
  })

  test('three keys one by one, those that stop first; the rest as a number', () => {
    const keys = [3, 2, 1, 0, 2].map((days, i) =>
      keyOf({ id: `key_${i}`, expiresAt: now + days * dayMs + 1 - (days === 3 ? 1 : 0) }),
    )
    const alerts = alertsOf({ ...quiet, keys })
    expect(alerts.map((one) => ('key' in one ? one.key.id : one))).toEqual([
      'key_3',
      'key_2',
      'key_1',
      { kind: 'more_keys', count: 2 },
    ])
  })

  test('one stands open; several are one line, which says the worst and opens', () => {
    const shown = (count: number) => {
      const keys = Array.from({ length: count }, (_, i) =>
        keyOf({ id: `key_${i}`, name: `agent ${i}`, expiresAt: now + (i + 1) * hourMs }),
      )
      return renderChild(Alerts({ of: alertsOf({ ...quiet, keys }), now, takesDeposits: false }))
    }
    expect(shown(0)).toBe('')
    expect(shown(1)).not.toContain('<details')
    expect(shown(3)).toContain('<div class="bleed alerts"><details>')
    expect(shown(3)).toMatch(
      /<summary[^>]*>(?:(?!<\/summary>).)*3 things need you.*?agent 0 expires/s,
    )
    expect(shown(3).match(/href="\/dashboard\/keys\/key_/g)).toHaveLength(3)
  })
})
