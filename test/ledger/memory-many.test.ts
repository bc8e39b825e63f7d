import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { changeKey } from '../../src/access/keys/change.ts'
import { auditStore } from '../../src/ledger/store/audit.ts'
import type { KeyRow, RunRow } from '../../src/storage/db/schema/schema.ts'
import { closeAll, freshFile, openFile } from '../storage/db/file.ts'
import { engines } from '../support/world.ts'
import { faultsOf, newAccount, openOffice, pictureOf } from './office.ts'
import { prng } from './prng.ts'

setDefaultTimeout(120_000)

afterEach(closeAll)

/** The runs that began, of many asked at once. */
async function begunOf(asked: Promise<RunRow>[]): Promise<RunRow[]> {
  const outcomes = await Promise.allSettled(asked)
  for (const one of outcomes) {
    if (one.status === 'fulfilled') continue
    expect(['insufficient_balance', 'cap_exceeded', 'key_paused']).toContain(one.reason.type)
  }
  return outcomes.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
}

describe.each(engines)('a thousand holds at once, on %s', (engine) => {
  test.each([
    ['a balance', 50n, 1_000n],
    ['a cap', 1_000n, 50n],
  ])('take no more than %s of 50 has', async (_, balance, capLimit) => {
    const office = await openOffice(engine)
    try {
      const account = newAccount()
      await office.grant(account, balance)
      const parent = await office.key({ account, capLimit })
      const keys = [parent, await office.key({ account, parentId: parent.id, capLimit })]
      const begin = (i: number) => office.hold(keys[i % 2] ?? parent, 1n, office.ledger, true)
      const begun = await begunOf(Array.from({ length: 1000 }, (_, i) => begin(i)))
      expect(begun).toHaveLength(50)
      const ended = begun.slice(0, 20).map((run, i) => office.end(run, BigInt(i % 2)))
      const more = await begunOf([...Array(200).keys()].map(begin))
      await Promise.all(ended)
      const rest = await begunOf([...Array(200).keys()].map(begin))
      // Ten of them were charged, ten gave back what they held.
      expect(begun.length + more.length + rest.length).toBe(60)
      await Promise.all([...begun.slice(20), ...more, ...rest].map((run) => office.end(run, 1n)))
      const { accounts } = await pictureOf(office.db)
      expect(accounts).toMatchObject([{ balance: balance - 50n, held: 0n }])
      expect(faultsOf(await pictureOf(office.db))).toEqual([])
    } finally {
      await office.close()
    }
  })
})

/** A server with holds in memory and rows, and another process beside it: what each may do next. */
function life(seed: number) {
  const dice = prng(seed)
  const file = freshFile()
  const server = openFile(file)
  const other = openFile(file)
  for (const { raw } of [server, other]) raw.run('PRAGMA synchronous = OFF')
  const account = newAccount()
  const open: RunRow[] = []
  const keys: KeyRow[] = []
  let granted = 0n
  let charged = 0n
  const grant = async (by: typeof server) => {
    const amount = BigInt(dice.below(40))
    if (amount === 0n) return
    await by.grant(account, amount)
    granted += amount
  }
  const begin = async () => {
    const key = dice.pick(keys)
    const isHold = dice.below(4) > 0
    const many = Array.from({ length: 1 + dice.below(8) }, () =>
      server.hold(key, BigInt(1 + dice.below(20)), server.ledger, isHold),
    )
    open.push(...(await begunOf(many)))
  }
  const end = async () => {
    const some = open.splice(0, dice.below(5))
    await Promise.all(
      some.map((run) => {
        const cost = BigInt(dice.below(Number(run.hold) + 1))
        charged += cost
        return server.end(run, cost)
      }),
    )
  }
  const sweep = async () => {
    server.clock.set(server.clock.now() + dice.below(400))
    await server.sweep()
  }
  /** A COMMIT that fails, with ends and sweeps in it: all of it is as if it had not been asked. */
  const fail = async () => {
    server.raw.run('PRAGMA query_only = ON')
    await Promise.allSettled([
      ...open.slice(0, 3).map((run) => server.end(run, 0n)),
      server.sweep(),
    ])
    server.raw.run('PRAGMA query_only = OFF')
  }
  const recap = async () => {
    const change = { capLimit: BigInt(1 + dice.below(200)) }
    const by = dice.pick([server, other])
    // Less than was spent, or more than the key above has.
    await changeKey(by, { keyId: dice.pick(keys).id, actor: 'test', change }).catch((error) =>
      expect(['conflict', 'invalid_request']).toContain(error.type),
    )
  }
  const mint = async () => {
    const parent = dice.below(2) === 0 ? {} : { parentId: dice.pick(keys).id, capLimit: 1n }
    keys.push(await dice.pick([server, other]).key({ account, capLimit: 150n, ...parent }))
  }
  const together = async () => {
    await Promise.all([sweep(), end(), begin(), grant(server)])
  }
  const acts = [begin, begin, begin, end, end, sweep, fail, recap, mint, together]
  return {
    server,
    account,
    open,
    async prepare() {
      await server.grant(account, 100n)
      granted = 100n
      keys.push(await server.key({ account, capLimit: 150n }))
    },
    act: () => dice.pick([...acts, () => grant(server), () => grant(other)])(),
    money: () => ({
      balance: granted - charged,
      held: open.reduce((sum, run) => sum + run.hold, 0n),
    }),
  }
}

describe('a server and another process on one file', () => {
  test.each([1, 2, 3, 4, 5, 6])(
    'never spend or hold more than there is, and forget no hold (life %d)',
    async (seed) => {
      const { server, account, open, act, prepare, money } = life(seed)
      await prepare()
      for (let i = 0; i < 150; i++) {
        await act()
        const { balance, held } = money()
        expect(held).toBeLessThanOrEqual(balance)
        const stored = (await pictureOf(server.db)).accounts.find(({ id }) => id === account)
        expect(stored?.balance).toBe(balance)
        expect((stored?.held ?? 0n) + server.db.open.heldOf(account)).toBe(held)
        expect(await auditStore(server.db).faults(server.clock.now())).toEqual([])
      }
      await Promise.all(open.map((run) => server.end(run, 0n)))
      expect(server.db.open.size).toBe(0)
      const { runs, windows } = await pictureOf(server.db)
      expect(runs.filter(({ finishedAt }) => finishedAt === null)).toEqual([])
      expect(windows.every(({ held }) => held === 0n)).toBe(true)
      expect(await auditStore(server.db).faults(server.clock.now())).toEqual([])
    },
  )
})
