import { afterAll, beforeAll, expect, test } from 'bun:test'
import { rotateKey } from '../../../src/access/keys/rotate.ts'
import { hashSecret } from '../../../src/access/keys/secret.ts'
import { keyStore } from '../../../src/access/keys/store.ts'
import { livePlans } from '../../../src/billing/plans/live-plans.ts'
import { newAccount, openOffice } from '../../ledger/office.ts'
import { usd } from '../../support/world.ts'

let office: Awaited<ReturnType<typeof openOffice>>
beforeAll(async () => {
  office = await openOffice('sqlite')
})
afterAll(() => office.close())

/** The hash of a key's secret whose account has that much. */
async function hashOf(balance: bigint): Promise<string> {
  const account = newAccount()
  if (balance > 0n) await office.grant(account, balance)
  const { id } = await office.key({ account })
  return hashSecret(
    (await rotateKey(office, { keyId: id, actor: 'test', overlapSeconds: 0 })).secret,
  )
}

const pass = (ms: number) => office.clock.set(office.clock.now() + ms)

test('The one process that writes a file caches a caller for a minute', async () => {
  const hash = await hashOf(usd)
  const caller = await office.keys.findCaller(hash)
  pass(59_000)
  expect(office.keys.findCaller(hash)).toMatchObject({ key: { id: caller?.key.id ?? '' } })
  pass(1000)
  expect(office.keys.findCaller(hash)).toBeInstanceOf(Promise)
})

test('A caller whose account has little is read each second: it may soon be empty', async () => {
  for (const balance of [0n, usd / 20n]) {
    const hash = await hashOf(balance)
    expect(await office.keys.findCaller(hash)).toMatchObject({ isEmpty: balance === 0n })
    expect(office.keys.findCaller(hash)).not.toBeInstanceOf(Promise)
    pass(1000)
    expect(office.keys.findCaller(hash)).toBeInstanceOf(Promise)
  }
})

test('All callers are read again once other plans are on offer', async () => {
  const plans = livePlans(office.plans)
  const keys = keyStore(office.db, office.clock, plans)
  const hash = await hashOf(usd)
  await keys.findCaller(hash)
  expect(keys.findCaller(hash)).not.toBeInstanceOf(Promise)
  plans.replace(office.plans, office.clock.now())
  expect(keys.findCaller(hash)).toBeInstanceOf(Promise)
})
