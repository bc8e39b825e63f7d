import { describe, expect, test } from 'bun:test'
import type {
  IdempotentRow,
  KeyRow,
  SecretRow,
  SubscriptionRow,
} from '../../src/storage/db/schema.ts'
import { account, deposit, key, now, openRun, paperBook, window } from './paper-book.ts'

const secret = (state: Partial<SecretRow> = {}): SecretRow => ({
  ...{ hash: 'h1', keyId: 'leaf', validUntil: null },
  ...state,
})
const subscription = (endedAt: number | null = null) =>
  ({ id: 'sub_1', accountId: 'alice', endedAt }) as SubscriptionRow
const call = (until: number) => ({ scope: 'POST /x', until }) as IdempotentRow

describe('what a command adds', () => {
  test('is on the book at once for those behind it, and is written as new', () => {
    const { book, pages } = paperBook({})
    const [made, shown, run, plan, kept] = [
      key(),
      secret(),
      openRun(),
      subscription(),
      call(now + 1),
    ]
    book.addKey(made, shown)
    book.addKey(key({ id: 'second' }), secret({ hash: 'h2', keyId: 'second' }))
    book.addRun(run)
    book.addSubscription(plan)
    book.addCall(kept)
    expect([book.key('leaf'), book.run('run_1'), book.subscription('alice')]).toEqual([
      made,
      run,
      plan,
    ])
    expect([book.call('POST /x'), book.secrets('leaf')]).toEqual([kept, [shown]])
    expect([book.activeKeys('alice'), book.activeKeys('bob')]).toEqual([2, 0])
    expect(pages.added.keys.map(({ id }) => id)).toEqual(['leaf', 'second'])
    expect(pages.added.secrets.map(({ hash }) => hash)).toEqual(['h1', 'h2'])
    expect(pages.added.runs).toEqual([run])
    expect(pages.added.subscriptions).toEqual([plan])
    expect(pages.added.calls).toEqual([kept])
  })

  test('is what becomes of a call', () => {
    const { book, pages } = paperBook({})
    book.answerCall('POST /x', new Uint8Array([1]))
    book.freeCall('run_1')
    expect(pages.calledBack).toEqual({
      answered: [{ scope: 'POST /x', reply: new Uint8Array([1]) }],
      freed: ['run_1'],
    })
  })
})

describe('a run that ends', () => {
  test('is open no more, and written as it ended, not as it was, also if that changed before', () => {
    const { book, pages } = paperBook({})
    const [open, ended] = [openRun(), openRun({ finishedAt: now })]
    pages.runs.set(open.id, open)
    book.changed('run', open)
    book.endRun(ended)
    expect(book.run(open.id)).toBeUndefined()
    expect([...pages.written.runs]).toEqual([ended])
  })

  test('is added and then written, where it began in the same batch', () => {
    const { book, pages } = paperBook({})
    const [open, ended] = [openRun(), openRun({ finishedAt: now })]
    book.addRun(open)
    book.endRun(ended)
    expect([pages.added.runs, [...pages.written.runs]]).toEqual([[open], [ended]])
  })
})

describe('what a command changes', () => {
  test('is written among its own kind, and once', () => {
    const { book, pages } = paperBook({})
    const rows = {
      account: account(),
      key: key(),
      secret: secret(),
      window: window(),
      run: openRun(),
      deposit: deposit(),
      subscription: subscription(),
    }
    for (const [what, row] of Object.entries(rows)) {
      book.changed(what as keyof typeof rows, row)
      book.changed(what as keyof typeof rows, row)
    }
    expect(pages.written).toEqual({
      accounts: new Set([rows.account]),
      keys: new Set([rows.key]),
      secrets: new Set([rows.secret]),
      windows: new Set([rows.window]),
      runs: new Set([rows.run]),
      deposits: new Set([rows.deposit]),
      subscriptions: new Set([rows.subscription]),
    })
  })

  test('is not written beside what is new: it is written with it', () => {
    const { book, pages } = paperBook({})
    const [made, shown, run, plan] = [key(), secret(), openRun(), subscription()]
    book.addKey(made, shown)
    book.addRun(run)
    book.addSubscription(plan)
    book.changed('key', made)
    book.changed('secret', shown)
    book.changed('run', run)
    book.changed('subscription', plan)
    const { keys, secrets, runs, subscriptions } = pages.written
    expect(keys.size + secrets.size + runs.size + subscriptions.size).toBe(0)
  })
})

describe('a key that is revoked', () => {
  test.each<[string, Partial<KeyRow>, number]>([
    ['that was active is active no more', {}, 1],
    ['that was revoked before is not counted twice', { revokedAt: now - 1 }, 2],
    ['that expires at this moment is not counted twice', { expiresAt: now }, 2],
  ])('%s', (_, state, left) => {
    const { book, pages } = paperBook({})
    pages.activeKeys.set('alice', 2)
    const row = key(state)
    book.revokeKey(row, 'bob')
    expect(book.activeKeys('alice')).toBe(left)
    expect(row).toMatchObject({ revokedAt: now, revokedBy: 'bob' })
    expect([...pages.written.keys]).toEqual([row])
  })

  test('leaves an account without a count where nothing is added', () => {
    const { book, pages } = paperBook({})
    book.revokeKey(key(), 'bob')
    expect(pages.activeKeys.size).toBe(0)
  })
})

describe('a book gives', () => {
  test('a subscription only while it goes on', () => {
    const { book, pages } = paperBook({})
    pages.subscriptions.set('alice', subscription(now - 1))
    expect(book.subscription('alice')).toBeUndefined()
    expect(book.subscription('bob')).toBeUndefined()
  })

  test.each([
    [now + 1, true],
    [now, false],
    [now - 1, false],
  ])('a call only before its end', (until, isThere) => {
    const { book, pages } = paperBook({})
    pages.calls.set('POST /x', call(until))
    expect(book.call('POST /x') !== undefined).toBe(isThere)
    expect(book.call('POST /y')).toBeUndefined()
  })

  test('the window of now, and a fresh one with the cap of the key where there is none', () => {
    const kept = window({ spent: 5n })
    const { book } = paperBook({ windows: [kept] })
    expect(book.window(key())).toBe(kept)
    expect(book.windowAt('leaf', 0)).toBe(kept)
    const fresh = book.window(key({ capWindow: 'day', capLimit: 9n }))
    const start = Date.UTC(2026, 0, 15)
    expect(fresh).toEqual({ keyId: 'leaf', windowStart: start, limit: 9n, spent: 0n, held: 0n })
    expect(book.window(key({ capWindow: 'day' }))).toBe(fresh)
  })

  test('a key and all below it, and the secrets of one key', () => {
    const { book, pages } = paperBook({})
    const top = key({ id: 'top', lineage: ['top'] })
    const low = key({ id: 'low', lineage: ['low', 'top'] })
    book.addKey(top, secret({ keyId: 'top' }))
    book.addKey(low, secret({ hash: 'h2', keyId: 'low' }))
    expect(pages.keys.size).toBe(2)
    expect(book.below('top')).toEqual([top, low])
    expect(book.below('low')).toEqual([low])
    expect(book.secrets('low').map(({ hash }) => hash)).toEqual(['h2'])
  })
})
