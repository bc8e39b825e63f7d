import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { insertEnded } from '../../bench/stored-runs.ts'
import { auditStore } from '../../src/ledger/store/audit.ts'
import { insert } from '../../src/storage/db/sql/query-steps.ts'
import { direct } from '../storage/db/direct.ts'
import { outcomeOf } from '../support/rejection.ts'
import { endedAs, newAccount, openOffice, pictureOf } from './office.ts'

setDefaultTimeout(60_000)

/** One more than an audit reads in one step. */
const many = 2001

let office: Awaited<ReturnType<typeof openOffice>>
let account: string
beforeEach(async () => {
  office = await openOffice('sqlite')
  account = newAccount()
  await office.grant(account, 1n)
})
afterEach(() => office.close())

const faults = () => auditStore(office.db).faults(office.clock.now())

describe('an audit of more than one page', () => {
  test('of transfers counts each once', async () => {
    const [first] = (await pictureOf(office.db)).transfers
    if (!first) throw new Error('no transfer')
    const more = Array.from({ length: many - 1 }, (_, i) => {
      const place = String(i).padStart(5, '0')
      return { ...first, ref: `z${place}`, seq: first.seq + i + 1, balance: BigInt(i + 2) }
    })
    await office.db.write(() => insert(office.db.tables.transfers, more))
    const set = `balance = ${many}, moves = ${many}`
    await direct(office.db, `update accounts set ${set} where id = '${account}'`)
    expect(await faults()).toEqual([])
    await direct(office.db, `update accounts set balance = ${many + 1} where id = '${account}'`)
    expect(await faults()).not.toEqual([])
  })

  test('of runs counts each once', async () => {
    const key = await office.key({ account })
    await office.end(await office.hold(key, 1n), 1n)
    const [run] = (await pictureOf(office.db)).runs
    if (!run) throw new Error('no run')
    const more = Array.from({ length: many - 1 }, (_, i) => {
      return { ...endedAs(run, 0), hold: 1n, id: `run_z${String(i).padStart(5, '0')}` }
    })
    const at = office.clock.now()
    const charges = more.map(({ id: ref }, i) => ({ ref, at, seq: 3 + i, balance: 0n }))
    await office.db.write(() => insertEnded(office.db, more, charges))
    await office.grant(account, BigInt(more.length))
    await direct(office.db, `update accounts set balance = 0 where id = '${account}'`)
    expect(await faults()).toEqual([expect.stringContaining('spent of key window')])
    await direct(office.db, `update key_windows set spent = ${many} where key_id = '${key.id}'`)
    expect(await faults()).toEqual([])
  })
})

test('balances may come to more than 64 bits hold', async () => {
  const most = 9_000_000_000_000_000n
  for (let i = 0; i < 1030; i++) await office.grant(newAccount(), most)
  const audits = auditStore(office.db)
  expect(await audits.sinceLast()).toEqual([])
  expect(await audits.whole(office.clock.now())).toEqual([])
  expect(await audits.sinceLast()).toEqual([])
})

describe('an audit that is told to end', () => {
  test('asks so before each page, of transfers and of runs', async () => {
    for (const last of [1, 2]) {
      let asked = 0
      const ending = {
        throwIfAborted() {
          asked++
          if (asked === last) throw new Error('all ends')
        },
      } as AbortSignal
      const whole = auditStore(office.db).whole(office.clock.now(), ending)
      expect(await outcomeOf(whole)).toThrow('all ends')
      expect(asked).toBe(last)
    }
  })
})

describe('an audit of what is open', () => {
  test('finds nothing where no whole one was before it', async () => {
    expect(await auditStore(office.db).sinceLast()).toEqual([])
  })

  test('finds a single nano-USD that nothing holds', async () => {
    const { sinceLast } = auditStore(office.db)
    await direct(office.db, `update accounts set held = 1 where id = '${account}'`)
    expect(await sinceLast()).toEqual([expect.stringContaining(account)])
    await direct(office.db, `update accounts set held = 0 where id = '${account}'`)
    const key = await office.key({ account })
    await office.end(await office.hold(key, 1n), 0n)
    expect(await sinceLast()).toEqual([])
    await direct(office.db, `update key_windows set held = 1 where key_id = '${key.id}'`)
    expect(await sinceLast()).toEqual([expect.stringContaining(key.id)])
  })
})
