import { describe, expect, test } from 'bun:test'
import type { IdempotentRow, KeyRow, SecretRow } from '../../src/storage/db/schema/schema.ts'
import { endedAs } from './office.ts'
import { account, key, now, openRun, paperUnit, window } from './paper-unit.ts'

const secret = (state: Partial<SecretRow> = {}): SecretRow => ({
  ...{ hash: 'h1', keyId: 'leaf', validUntil: null, selfRotated: false },
  ...state,
})
const call = (until: number) => ({ scope: 'POST /x', until }) as IdempotentRow

describe('what a command adds', () => {
  test('is in the unit of work at once for those behind it, and is written as new', () => {
    const { unit, tracked } = paperUnit({})
    const [made, shown, run, kept] = [key(), secret(), openRun(), call(now + 1)]
    unit.addKey(made, shown)
    unit.addKey(key({ id: 'second' }), secret({ hash: 'h2', keyId: 'second' }))
    unit.addRun(run)
    unit.addCall(kept)
    expect([unit.key('leaf'), unit.run('run_1')]).toEqual([made, run])
    expect([unit.call('POST /x'), unit.secrets('leaf')]).toEqual([kept, [shown]])
    expect([unit.activeKeys('alice'), unit.activeKeys('bob')]).toEqual([2, 0])
    expect(tracked.added.keys.map(({ id }) => id)).toEqual(['leaf', 'second'])
    expect(tracked.added.secrets.map(({ hash }) => hash)).toEqual(['h1', 'h2'])
    expect(tracked.added.runs).toEqual([run])
    expect(tracked.added.calls).toEqual([kept])
  })

  test('is what becomes of a call', () => {
    const { unit, tracked } = paperUnit({})
    unit.answerCall('POST /x', new Uint8Array([1]))
    unit.freeCall('run_1')
    expect(tracked.calledBack).toEqual({
      answered: [{ scope: 'POST /x', reply: new Uint8Array([1]) }],
      freed: ['run_1'],
    })
  })
})

describe('a run that ends', () => {
  test('is open no more, and written as it ended, not as it was, also if that changed before', () => {
    const { unit, tracked } = paperUnit({})
    const [open, ended] = [openRun(), endedAs(openRun(), now)]
    tracked.runs.set(open.id, open)
    unit.changed('run', open)
    unit.endRun(ended)
    expect(unit.run(open.id)).toBeUndefined()
    expect([[...tracked.written.runs], tracked.added.ended]).toEqual([[], [ended]])
  })

  test('is written as ended alone, where it got its row in the same batch', () => {
    const { unit, tracked } = paperUnit({})
    const [open, ended] = [openRun(), endedAs(openRun(), now)]
    unit.addRun(open)
    unit.endRun(ended)
    expect([tracked.added.runs, tracked.added.ended]).toEqual([[], [ended]])
  })
})

describe('what a command changes', () => {
  test('is written among its own kind, and once', () => {
    const { unit, tracked } = paperUnit({})
    const rows = {
      account: account(),
      alerts: account(),
      key: key(),
      secret: secret(),
      window: window(),
      run: openRun(),
    }
    for (const [what, row] of Object.entries(rows)) {
      unit.changed(what as keyof typeof rows, row)
      unit.changed(what as keyof typeof rows, row)
    }
    expect(tracked.written).toEqual({
      accounts: new Set([rows.account]),
      keys: new Set([rows.key]),
      secrets: new Set([rows.secret]),
      windows: new Set([rows.window]),
      runs: new Set([rows.run]),
      alerts: new Set([rows.alerts]),
      budgets: new Set(),
    })
  })

  test('is not written beside what is new: it is written with it', () => {
    const { unit, tracked } = paperUnit({})
    const [made, shown, run] = [key(), secret(), openRun()]
    unit.addKey(made, shown)
    unit.addRun(run)
    unit.changed('key', made)
    unit.changed('secret', shown)
    unit.changed('run', run)
    const { keys, secrets, runs } = tracked.written
    expect(keys.size + secrets.size + runs.size).toBe(0)
  })
})

describe('a key that is revoked', () => {
  test.each<[string, Partial<KeyRow>, number]>([
    ['that was active is active no more', {}, 1],
    ['that was revoked before is not counted twice', { revokedAt: now - 1 }, 2],
    ['that expires at this moment is not counted twice', { expiresAt: now }, 2],
  ])('The count of active keys follows a key %s.', (_, state, left) => {
    const { unit, tracked } = paperUnit({})
    tracked.activeKeys.set('alice', 2)
    const row = key(state)
    unit.revokeKey(row, 'bob')
    expect(unit.activeKeys('alice')).toBe(left)
    expect(row).toMatchObject({ revokedAt: now, revokedBy: 'bob' })
    expect([...tracked.written.keys]).toEqual([row])
  })

  test('leaves an account without a count where nothing is added', () => {
    const { unit, tracked } = paperUnit({})
    unit.revokeKey(key(), 'bob')
    expect(tracked.activeKeys.size).toBe(0)
  })
})

describe('a unit of work gives', () => {
  test.each([
    [now + 1, true],
    [now, false],
    [now - 1, false],
  ])('a call only before its end', (until, isThere) => {
    const { unit, tracked } = paperUnit({})
    tracked.calls.set('POST /x', call(until))
    expect(unit.call('POST /x') !== undefined).toBe(isThere)
    expect(unit.call('POST /y')).toBeUndefined()
  })

  test('the window of now, and a fresh one with the cap of the key where there is none', () => {
    const kept = window({ spent: 5n })
    const { unit } = paperUnit({ windows: [kept] })
    expect(unit.window(key())).toBe(kept)
    expect(unit.windowAt('leaf', 0)).toBe(kept)
    const fresh = unit.window(key({ capWindow: 'day', capLimit: 9n }))
    const start = Date.UTC(2026, 0, 15)
    expect(fresh).toEqual(window({ windowStart: start, limit: 9n }))
    expect(unit.window(key({ capWindow: 'day' }))).toBe(fresh)
  })

  test('a key and all below it, and the secrets of one key', () => {
    const { unit, tracked } = paperUnit({})
    const top = key({ id: 'top', lineage: ['top'] })
    const low = key({ id: 'low', lineage: ['low', 'top'] })
    unit.addKey(top, secret({ keyId: 'top' }))
    unit.addKey(low, secret({ hash: 'h2', keyId: 'low' }))
    expect([...tracked.keys.values()]).toEqual([top, low])
    expect(unit.below('top')).toEqual([top, low])
    expect(unit.below('low')).toEqual([low])
    expect(unit.secrets('low').map(({ hash }) => hash)).toEqual(['h2'])
  })
})
