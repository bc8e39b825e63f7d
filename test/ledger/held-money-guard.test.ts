import { afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { changeOf } from '../../src/ledger/number-transfers.ts'
import { nodeLease, takeLease } from '../../src/storage/db/engine/lease.ts'
import { closeAll, freshFile, openFile } from '../storage/db/file.ts'
import { rejectionOf } from '../support/rejection.ts'
import { newAccount, type Office, pictureOf } from './office.ts'

setDefaultTimeout(60_000)
afterEach(closeAll)

/** Takes 50 of an account by a command, as a deposit that is given to someone else does. */
const take = ({ ledger, ids }: Pick<Office, 'ledger' | 'ids'>, account: string): Promise<void> =>
  ledger.post({
    account,
    keys: [],
    decide(unit) {
      const row = unit.account(account)
      if (!row) throw new Error('no account')
      const sides = { source: 'user', target: 'plans' } as const
      const moved = { accountId: account, ref: ids.make('req'), kind: 'plan', amount: 50n } as const
      row.balance += changeOf({ ...sides, amount: 50n })
      unit.changed('account', row)
      unit.addTransfer({ ...moved, ...sides, at: unit.now })
    },
  })

test('A command beside a server takes no money that the server may hold in memory.', async () => {
  const file = freshFile()
  const server = openFile(file)
  await takeLease(server.db, server.clock, nodeLease('server'), 'server')
  const [rich, keyless] = [newAccount(), newAccount()]
  for (const account of [rich, keyless]) await server.grant(account, 100n)
  const key = await server.key({ account: rich })
  const run = await server.hold(key, 100n, server.ledger, true)
  const command = openFile(file)
  expect(await rejectionOf(take(command, rich))).toMatchObject({ type: 'conflict' })
  await take(command, keyless)
  await server.end(run, 100n)
  const { accounts } = await pictureOf(server.db)
  const left = accounts.map(({ id, balance, held }) => [id, balance, held]).sort()
  expect(left).toEqual([
    [rich, 0n, 0n],
    [keyless, 50n, 0n],
  ])
})
