import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { reverseSecondCredit } from '../../src/billing/deposits/claim.ts'
import { depositStore } from '../../src/billing/deposits/store.ts'
import { lookAtDatabase } from '../../src/cli/doctor-database.ts'
import type { Ids } from '../../src/kernel/ids.ts'
import { openLedger } from '../../src/ledger/post.ts'
import { auditStore } from '../../src/ledger/store/audit.ts'
import type { Db } from '../../src/storage/db/db.ts'
import { rows } from '../../src/storage/db/query-steps.ts'
import { outcomeOf, rejectionOf } from '../support/rejection.ts'
import { configOf, engines, freshDb } from '../support/world.ts'
import { direct } from './direct.ts'
import { migrateRest, migrateUpTo } from './older.ts'

const idOf = (name: string): string => `dep_${name.padEnd(26, '0')}`

type Old = {
  name: string
  tx: string
  /** Below zero where the row was set aside: -1 less the index it had. */
  log: number
  status: string
  amount?: number
  credits?: number
  loss?: number
  account?: string
}

/** What a build before this step stored. */
const stored: Old[] = [
  { name: 'final', tx: '0xa', log: 3, status: 'finalized', amount: 50, credits: 1 },
  { name: 'reversed', tx: '0xb', log: -6, status: 'reversed', amount: 50, credits: 1, loss: 20 },
  { name: 'again', tx: '0xc', log: 2, status: 'credited', amount: 10, credits: 2 },
  { name: 'pair1', tx: '0xd', log: 5, status: 'finalized', amount: 7, credits: 1 },
  { name: 'pair2', tx: '0xd', log: 4, status: 'finalized', amount: 7, credits: 1 },
  { name: 'pair3', tx: '0xd', log: 6, status: 'finalized', amount: 8, credits: 1 },
  // Attacked: the first rows were set aside and their transfers credited again.
  { name: 'twice1', tx: '0xe', log: -8, status: 'finalized', amount: 9, credits: 1 },
  { name: 'twice2', tx: '0xe', log: -9, status: 'finalized', amount: 9, credits: 1 },
  { name: 'twice3', tx: '0xe', log: 7, status: 'finalized', amount: 9, credits: 1 },
  { name: 'twice4', tx: '0xe', log: 8, status: 'credited', amount: 9, credits: 1 },
  { name: 'waits', tx: '0xf', log: 0, status: 'detected' },
  { name: 'lost', tx: '0xf', log: -1, status: 'orphaned' },
  { name: 'small', tx: '0xf', log: 1, status: 'ignored' },
  {
    name: 'claimed',
    tx: '0x1',
    log: 0,
    status: 'credited',
    amount: 30,
    credits: 1,
    account: 'bob',
  },
]

/** account, reference, kind, source, target, amount */
const journal: [string, string, string, string, string, number][] = [
  ['alice', idOf('final'), 'deposit', 'deposits', 'user', 50],
  ['alice', idOf('reversed'), 'deposit', 'deposits', 'user', 50],
  ['alice', idOf('reversed'), 'reversal', 'user', 'deposits', 30],
  ['alice', idOf('reversed'), 'loss', 'loss', 'deposits', 20],
  ['alice', idOf('again'), 'deposit', 'deposits', 'user', 10],
  ['alice', idOf('again'), 'reversal', 'user', 'deposits', 6],
  ['alice', idOf('again'), 'loss', 'loss', 'deposits', 4],
  ['alice', `${idOf('again')}/2`, 'deposit', 'deposits', 'user', 6],
  ['alice', `${idOf('again')}/2/returned`, 'loss', 'deposits', 'loss', 4],
  ...['pair1', 'pair2'].map((name) => ['alice', idOf(name), 'deposit', 'deposits', 'user', 7]),
  ['alice', idOf('pair3'), 'deposit', 'deposits', 'user', 8],
  ...[1, 2, 3, 4].map((n) => ['alice', idOf(`twice${n}`), 'deposit', 'deposits', 'user', 9]),
  ['alice', idOf('claimed'), 'deposit', 'deposits', 'user', 30],
  ['alice', idOf('claimed'), 'claim', 'user', 'deposits', 30],
  ['bob', idOf('claimed'), 'claim', 'deposits', 'user', 30],
  ['alice', 'run_1', 'run', 'user', 'revenue', 1],
  ['alice', 'req_1', 'grant', 'grants', 'user', 5],
] as [string, string, string, string, string, number][]

async function fill(db: Db): Promise<void> {
  const balances: Record<string, number> = { alice: 0, bob: 0 }
  const moves: string[] = []
  for (const [i, [account, ref, kind, source, target, amount]] of journal.entries()) {
    const change = target === 'user' ? amount : source === 'user' ? -amount : 0
    const balance = (balances[account] ?? 0) + change
    balances[account] = balance
    const texts = [account, ref, kind, source, target].map((text) => `'${text}'`).join(', ')
    moves.push(`(${texts}, ${amount}, ${i}, ${i}, ${balance})`)
  }
  for (const [id, balance] of Object.entries(balances)) {
    const columns = 'id, balance, held, status, created_at, moves, moved_at'
    await direct(
      db,
      `insert into accounts (${columns}) values ('${id}', ${balance}, 0, 'active', 0, 99, 99)`,
    )
  }
  await direct(
    db,
    `insert into transfers (account_id, ref, kind, source, target, amount, at, seq, balance) values ${moves.join(', ')}`,
  )
  const found = stored.map(
    ({ name, tx, log, status, amount = 3, credits = 0, loss = 0, account = 'alice' }) => {
      const what = `'${idOf(name)}', 4663, '${tx}', ${log}, 7, '0xb', '0xt', '${amount}', ${amount}`
      return `(${what}, 'alice', '${account}', '${status}', 0, ${credits}, ${loss})`
    },
  )
  await direct(
    db,
    `insert into deposits (id, chain_id, tx_hash, log_index, block_number, block_hash, token, token_amount, amount_nusd, from_address, account_id, status, seen_at, credits, loss_nusd) values ${found.join(', ')}`,
  )
}

describe.each(engines)('deposits of an older database, on %s', (engine) => {
  let fresh: Awaited<ReturnType<typeof freshDb>>
  let db: Db
  beforeAll(async () => {
    fresh = await freshDb(engine, true)
    db = fresh.db
    await migrateUpTo(db, '0008_public')
    await fill(db)
    await migrateRest(db)
  }, 60_000)
  afterAll(async () => {
    await db.close()
    await fresh.drop()
  })
  const all = () => db.read((q) => rows(q.select().from(db.tables.deposits)))
  const refs = async () =>
    (await db.read((q) => rows(q.select().from(db.tables.transfers))))
      .map(({ accountId, ref, kind, amount }) => `${accountId} ${ref} ${kind} ${amount}`)
      .sort()

  test('have an ordinal each among the equal transfers of their transaction', async () => {
    const told = (await all()).map(
      ({ id, logIndex, ordinal, credits, reversals }) =>
        `${id.slice(4).replace(/0+$/, '')} log ${logIndex} is ${ordinal}, ${credits} less ${reversals}`,
    )
    expect(told.sort()).toEqual([
      'again log 2 is 0, 2 less 1',
      'claimed log 0 is 0, 1 less 0',
      'final log 3 is 0, 1 less 0',
      'lost log 0 is 2, 0 less 0',
      'pair1 log 5 is 1, 1 less 0',
      'pair2 log 4 is 0, 1 less 0',
      'pair3 log 6 is 0, 1 less 0',
      'reversed log 5 is 0, 1 less 1',
      'small log 1 is 1, 0 less 0',
      'twice1 log 7 is 0, 1 less 0',
      'twice2 log 8 is 1, 1 less 0',
      'twice3 log 7 is 2, 1 less 0',
      'twice4 log 8 is 3, 1 less 0',
      'waits log 0 is 0, 0 less 0',
    ])
  })

  test('have journal entries that name the transfer; all others keep their references', async () => {
    expect(await refs()).toEqual(
      [
        'alice 4663/0x1/0xt/alice/30/0 claim 30',
        'alice 4663/0x1/0xt/alice/30/0 deposit 30',
        'alice 4663/0xa/0xt/alice/50/0 deposit 50',
        'alice 4663/0xb/0xt/alice/50/0 deposit 50',
        'alice 4663/0xb/0xt/alice/50/0 loss 20',
        'alice 4663/0xb/0xt/alice/50/0 reversal 30',
        'alice 4663/0xc/0xt/alice/10/0 deposit 10',
        'alice 4663/0xc/0xt/alice/10/0 loss 4',
        'alice 4663/0xc/0xt/alice/10/0 reversal 6',
        'alice 4663/0xc/0xt/alice/10/0/2 deposit 6',
        'alice 4663/0xc/0xt/alice/10/0/2/returned loss 4',
        'alice 4663/0xd/0xt/alice/7/0 deposit 7',
        'alice 4663/0xd/0xt/alice/7/1 deposit 7',
        'alice 4663/0xd/0xt/alice/8/0 deposit 8',
        ...[0, 1, 2, 3].map((n) => `alice 4663/0xe/0xt/alice/9/${n} deposit 9`),
        'alice req_1 grant 5',
        'alice run_1 run 1',
        'bob 4663/0x1/0xt/alice/30/0 claim 30',
      ].sort(),
    )
  })

  test('add up, and the audit names the transfers that were credited twice', async () => {
    const { faults, doubled } = await auditStore(db).report(1000)
    expect(faults).toEqual(doubled)
    expect(doubled).toEqual([
      `deposit ${idOf('twice3')} of account alice credits a transfer a second time`,
      `deposit ${idOf('twice4')} of account alice credits a transfer a second time`,
    ])
  })

  test('are what doctor reports, with the command that takes a second credit back', async () => {
    // Only a file of its own is looked at page by page, and has backups.
    const config = { ...configOf(''), database_url: 'postgres://localhost/test' }
    const found = (await lookAtDatabase(config, db)).filter(({ status }) => status === 'fail')
    expect(found).toEqual(
      ['twice3', 'twice4'].map((name) => ({
        part: 'ledger',
        status: 'fail',
        message: `deposit ${idOf(name)} of account alice credits a transfer a second time.`,
        fix: 'counterfoil deposits reverse dep_… --reason "credited twice"',
      })),
    )
  })

  test('are sound again once the second credits are reversed, each once', async () => {
    const clock = { now: () => 1000, monotonic: () => 0 }
    let made = 0
    const ids: Ids = { make: (prefix) => `${prefix}_${made++}` }
    const deposits = depositStore(db, { clock, node: 'test' })
    const ledger = openLedger(db, clock)
    const reverse = (name: string) => {
      const wish = { id: idOf(name), reason: 'credited twice', actor: 'operator' }
      return reverseSecondCredit({ deposits, ledger, clock, ids }, wish)
    }
    expect(await rejectionOf(reverse('twice1'))).toMatchObject({ type: 'conflict' })
    expect(await rejectionOf(reverse('none'))).toMatchObject({ type: 'not_found' })
    expect(await reverse('twice3')).toBe(0n)
    const { doubled } = await auditStore(db).report(2000)
    expect(doubled.length).toBe(1)
    expect(await rejectionOf(reverse('twice3'))).toMatchObject({ type: 'conflict' })
    expect(await reverse('twice4')).toBe(0n)
    expect(await auditStore(db).whole(2000)).toEqual([])
  })

  test('are in a journal that takes no change, and no second credit in any account', async () => {
    const change = direct(db, "update transfers set amount = 1 where kind = 'deposit'")
    expect(await outcomeOf(change)).toThrow()
    const again = `insert into transfers values ('bob', '4663/0xa/0xt/alice/50/0', 'deposit', 'deposits', 'user', 50, 100, 100, 80)`
    expect(await outcomeOf(direct(db, again))).toThrow()
  })
})
