import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { proposeBrake } from '../../../src/access/keys/brake-proposal.ts'
import { keyPath } from '../../../src/access/keys/portal/key-state.tsx'
import { maxNusd } from '../../../src/kernel/money.ts'
import { insert } from '../../../src/storage/db/sql/query-steps.ts'
import { engines, testAccount, usd, type World, world } from '../../support/world.ts'
import { browser, signInWith } from '../accounts/wallet.ts'

const now = Date.UTC(2026, 6, 15, 12)
const dayMs = 86_400_000
const today = now - (now % dayMs)
const weekMs = 7 * dayMs
const cent = usd / 100n
const mill = usd / 1000n

describe('the proposal of a brake', () => {
  test.each([
    // 10,080 minutes and 168 hours.
    ['a week of a cent a minute', { cost: 100_800n * cent, runs: 50_400 }, weekMs, 1000n, 60_000n],
    ['five runs of a dollar in a week', { cost: 500n * cent, runs: 5 }, weekMs, 10_000n, 10_000n],
    ['ten runs of a cent within seconds', { cost: 10n * cent, runs: 10 }, 9000, 1000n, 1000n],
    ['sums that do not divide', { cost: 777n * cent, runs: 7000 }, weekMs, 12n, 470n],
  ])('is ten times the average minute and hour, rounded up: %s', (_, sums, ms, minute, hour) => {
    const made = proposeBrake({ ...sums, ms })
    expect(made).toEqual({ minute: minute * mill, hour: hour * mill })
  })

  test('needs a cost, and is never above the largest amount.', () => {
    expect(proposeBrake({ cost: 0n, runs: 9, ms: weekMs })).toBeUndefined()
    expect(proposeBrake({ cost: 0n, runs: 0, ms: 0 })).toBeUndefined()
    expect(proposeBrake({ cost: maxNusd, runs: 1, ms: 0 })).toEqual({
      minute: maxNusd,
      hour: maxNusd,
    })
    expect(proposeBrake({ cost: 1n, runs: 100_000, ms: weekMs })).toEqual({ minute: 1n, hour: 1n })
  })
})

describe.each(engines)('the form of a key that was used, on %s', (engine) => {
  let w: World
  beforeAll(async () => {
    w = await world({ engine, now: now - 30 * dayMs })
  }, 60_000)
  afterAll(() => w.stop())

  test('It proposes what the key and those below it spent, and blocks no key by itself.', async () => {
    const of = { account: testAccount, capLimit: 50n * usd }
    const parent = (await w.key({ ...of, name: 'parent' })).key
    const child = (await w.key({ ...of, name: 'child', parentId: parent.id })).key
    const other = (await w.key({ ...of, name: 'other' })).key
    w.advance(30 * dayMs)
    const own = browser(w)
    await signInWith(own)
    const page = async (id: string) =>
      (await own.call(keyPath(id), { headers: { accept: 'text/html' } })).text()
    const none = { succeeded: 1, inputUnits: 1, outputUnits: 1, cachedUnits: 0 }
    const day = { ...none, cacheWriteUnits: 0, reasoningUnits: 0, accountId: testAccount }
    const spent = (keyId: string, at: number, dollars: bigint) => ({
      ...day,
      ...{ keyId, day: at, model: 'acme/one', runs: 100_000, cost: dollars * usd },
    })
    await w.db.write(() =>
      insert(w.db.tables.usageDays, [
        spent(parent.id, today, 3n),
        spent(child.id, today - 6 * dayMs, 75n),
        spent(child.id, today - 7 * dayMs, 1000n),
        spent(other.id, today, 1000n),
      ]),
    )
    // 78 dollars in six and a half days: 156 hours, 9,360 minutes.
    const shown = await page(parent.id)
    expect(shown).toContain('Proposed: 0.084, ten times its average of the last week.')
    expect(shown).toContain('Proposed: 5.00.')
    expect(await page(child.id)).toContain('Proposed: 4.90.')
    const { key: fresh } = await w.key({ ...of, name: 'fresh' })
    expect(await page(fresh.id)).toContain('Type 10% for a tenth of the cap')
    expect(await w.deps.keys.find(parent.id)).toMatchObject({ brakeMinute: null, brakeHour: null })
  })
})
