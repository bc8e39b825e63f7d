import { Database } from 'bun:sqlite'
import { afterEach, describe, expect, test } from 'bun:test'
import { rows, type Work } from '../../../src/storage/db/sql/query-steps.ts'
import { faultsOf, newAccount, pictureOf } from '../../ledger/office.ts'
import { promise } from '../../support/promise.ts'
import { rejectionOf } from '../../support/rejection.ts'
import { closeAll, freshFile, openFile as open, opened } from './file.ts'

afterEach(closeAll)

/** A second reader that shares nothing with the writer. */
function reader(file: string) {
  const raw = new Database(file, { readonly: true, safeIntegers: true })
  opened.push(() => raw.close())
  return {
    balance: (account: string) =>
      raw
        .query<{ balance: bigint }, [string]>('select balance from accounts where id = ?')
        .get(account)?.balance,
  }
}

/** A step that the seam runs inside its transaction, as drizzle's queries are run. */
function* statement(run: () => void): Work<void> {
  const query = {
    all: () => {
      run()
      return []
    },
    run,
  }
  yield* rows(query)
}

describe('the commands of one tick', () => {
  promise`K2`
  test('Commands are answered after their COMMIT, when the file has their rows.', async () => {
    const file = freshFile()
    const office = open(file)
    const beside = reader(file)
    const account = newAccount()
    await Promise.all(
      Array.from({ length: 50 }, async () => {
        const balance = await office.grant(account, 1n)
        expect(beside.balance(account)).toBeGreaterThanOrEqual(balance)
      }),
    )
    expect(beside.balance(account)).toBe(50n)
  })

  test('are one transaction: no one outside sees it before all of them are in', async () => {
    const file = freshFile()
    const office = open(file)
    const beside = reader(file)
    const account = newAccount()
    await office.grant(account, 1n)
    let seenInside: bigint | undefined
    await Promise.all([
      office.grant(account, 5n),
      office.db.write(() =>
        statement(() => {
          seenInside = beside.balance(account)
        }),
      ),
    ])
    expect(seenInside).toBe(1n)
    expect(beside.balance(account)).toBe(6n)
  })

  test('are undone one by one: what fails leaves nothing, its neighbours stay', async () => {
    const office = open(freshFile())
    office.raw.run('create table notes (text text not null) strict')
    const note = (text: string | null) =>
      office.db.write(function* () {
        yield* statement(() => office.raw.run('insert into notes values (?)', ['half']))
        yield* statement(() => office.raw.run('insert into notes values (?)', [text]))
        return text
      })
    const outcomes = await Promise.allSettled([note('a'), note(null), note('b')])
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    const kept = office.raw.query('select text from notes').values().flat()
    expect(kept).toEqual(['half', 'a', 'half', 'b'])
  })
})

describe('a COMMIT that fails', () => {
  /** A constraint that is looked at only at the COMMIT. */
  function breakable(office: ReturnType<typeof open>) {
    office.raw.run('create table parents (id integer primary key)')
    office.raw.run(
      'create table children (p integer references parents deferrable initially deferred)',
    )
    return () =>
      office.db.write(() => statement(() => office.raw.run('insert into children values (7)')))
  }

  test('is told to everybody in it, and memory and file agree afterwards', async () => {
    const file = freshFile()
    const office = open(file)
    const account = newAccount()
    await office.grant(account, 100n)
    const key = await office.key({ account })
    await office.hold(key, 10n)
    const breakCommit = breakable(office)
    const outcomes = await Promise.allSettled([office.hold(key, 50n), breakCommit()])
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    const after = await pictureOf(office.db)
    expect(faultsOf(after)).toEqual([])
    expect(after.accounts).toMatchObject([{ balance: 100n, held: 10n }])
    // Had the hold of 50 stayed in memory, 90 would not be there.
    await office.hold(key, 90n)
    expect(await rejectionOf(office.hold(key, 1n))).toMatchObject({ type: 'insufficient_balance' })
    expect(faultsOf(await pictureOf(office.db))).toEqual([])
  })

  test('because of a neighbour does not lose a batch: each command is done once', async () => {
    const office = open(freshFile())
    const account = newAccount()
    await office.grant(account, 100n)
    const key = await office.key({ account })
    const breakCommit = breakable(office)
    const outcomes = await Promise.allSettled([
      office.hold(key, 50n),
      office.grant(account, 1n),
      breakCommit(),
    ])
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected'])
    const after = await pictureOf(office.db)
    expect(faultsOf(after)).toEqual([])
    expect(after.accounts).toMatchObject([{ balance: 101n, held: 50n }])
  })
})

describe('a full disk', () => {
  const pages = (raw: Database) => Number(raw.query('PRAGMA page_count').values()[0]?.[0])

  promise`K5 C: On a full disk nothing half is stored, reads go on, and it passes by itself.`
  test('stores nothing it did not acknowledge, and is over when there is room again', async () => {
    const file = freshFile()
    const office = open(file)
    const account = newAccount()
    await office.grant(account, 1_000_000n)
    const key = await office.key({ account })
    office.raw.run(`PRAGMA max_page_count = ${pages(office.raw) + 6}`)
    const acknowledged: bigint[] = []
    const failures: unknown[] = []
    for (let round = 0; round < 40; round++) {
      const amounts = Array.from({ length: 7 }, (_, i) => BigInt(round * 7 + i))
      const asked = amounts.map((amount) => office.hold(key, amount))
      // Neighbours that are not money: their writes must not slip out of the transaction.
      office.keys.noteUse(key.id, round)
      asked.push(office.keys.writeUses().then(() => office.hold(key, 0n)))
      for (const outcome of await Promise.allSettled(asked)) {
        if (outcome.status === 'fulfilled') acknowledged.push(outcome.value.hold)
        else failures.push(outcome.reason)
      }
    }
    expect(failures.length).toBeGreaterThan(0)
    expect(new Set(failures.map((failure) => String((failure as { code?: string }).code)))).toEqual(
      new Set(['SQLITE_FULL']),
    )
    const full = await pictureOf(office.db)
    expect(faultsOf(full)).toEqual([])
    const held = acknowledged.reduce((sum, amount) => sum + amount, 0n)
    expect(full.accounts).toMatchObject([{ balance: 1_000_000n, held }])
    expect(full.runs.length).toBe(acknowledged.length)
    office.raw.run('PRAGMA max_page_count = 1073741823')
    await office.hold(key, 1_000_000n - held)
    expect(await rejectionOf(office.hold(key, 1n))).toMatchObject({ type: 'insufficient_balance' })
    expect(faultsOf(await pictureOf(office.db))).toEqual([])
  })

  test('undoes the whole transaction, and then no neighbour is told that it was stored', async () => {
    const office = open(freshFile())
    office.raw.run('create table notes (text text not null) strict')
    const note = (text: string) =>
      office.db.write(() => statement(() => office.raw.run('insert into notes values (?)', [text])))
    await note('before')
    office.raw.run(`PRAGMA max_page_count = ${pages(office.raw) + 1}`)
    const outcomes = await Promise.allSettled([
      note('first'),
      note('x'.repeat(100_000)),
      note('last'),
    ])
    const kept = office.raw.query('select text from notes').values().flat()
    const told = ['first', 'x', 'last'].filter((_, i) => outcomes[i]?.status === 'fulfilled')
    expect(outcomes[1]?.status).toBe('rejected')
    expect(kept).toEqual(['before', ...told])
    office.raw.run('PRAGMA max_page_count = 1073741823')
    await note('after')
    expect(office.raw.query('select text from notes').values().flat()).toEqual([
      'before',
      ...told,
      'after',
    ])
  })
})
