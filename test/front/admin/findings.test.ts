import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { findingsOf } from '../../../src/front/admin/findings.ts'
import { statusOf } from '../../../src/front/status/api.ts'
import { type World, world } from '../../support/world.ts'

type Status = Awaited<ReturnType<typeof statusOf>>

describe('what an operator is told about each part', () => {
  let w: World
  let well: Status
  beforeAll(async () => {
    w = await world()
    well = { ...(await statusOf(w.deps)), ledger: 'balanced' }
  })
  afterAll(() => w.stop())

  const sender = { address: null, balance_wei: '5', low: false }
  const bad = { status: 'degraded' as const, lag_s: 0, sender }
  const cases: [part: string, change: Partial<Status>, tone: string, advice: string][] = [
    ['Ledger', { ledger: 'unbalanced' }, 'bad', '7 differences'],
    ['Ledger', { ledger: 'checking' }, 'wait', 'first audit'],
    ['Log', { anchors: { status: 'diverged', lag_s: null } }, 'bad', 'counterfoil log reopen'],
    ['Anchors', { anchors: { ...bad, reason: 'no_funds' } }, 'bad', 'Send ETH'],
    ['Anchors', { anchors: { ...bad, reason: 'no_registry' } }, 'bad', '[anchors] registry'],
    ['Anchors', { anchors: { ...bad, reason: 'late' } }, 'bad', 'twice the promised delay'],
    [
      'Anchors',
      { anchors: { status: 'ok', reason: null, lag_s: 0, sender: { ...sender, low: true } } },
      'warn',
      'Send ETH',
    ],
    [
      'Deposits',
      { deposits: { status: 'unchecked', reason: null, block: null } },
      'wait',
      'first check',
    ],
    [
      'Chain',
      { chain: { id: 4663, head: null, lag_s: null, status: 'unchecked' } },
      'wait',
      'first check',
    ],
    ['Chain', { chain: { id: 4663, head: 5, lag_s: 0, status: 'ok' } }, 'ok', 'Nothing to do'],
  ]
  test.each(cases)('%s: %j', (part, change, tone, advice) => {
    const found = findingsOf({ ...well, ...change }, 7).find((one) => one.part === part)
    expect(found?.tone).toBe(tone as 'ok')
    expect(found?.advice).toContain(advice)
  })

  test('a database that is down is said first; what is off is no fault', () => {
    const database = { ...well.database, status: 'down' as const }
    expect(findingsOf({ ...well, database }, 0)[0]).toMatchObject({ part: 'Database', tone: 'bad' })
    expect(findingsOf(well, 0).filter(({ tone }) => tone === 'bad')).toEqual([])
  })
})
