import type { Db } from '../../src/storage/db/engine/db.ts'
import { rows } from '../../src/storage/db/sql/query-steps.ts'
import type { Picture } from '../ledger/office.ts'
import { balanceFaults } from './balance-told.ts'
import { causesOf, eventDifferences, nameOf } from './event-causes.ts'
import type { Model } from './model.ts'

/** An event exists exactly if what it tells was committed: never one more, never one less. */
export async function eventFaults(
  db: Db,
  m: Pick<Model, 'refused'>,
  { accounts, transfers }: Pick<Picture, 'accounts' | 'transfers'>,
): Promise<string[]> {
  const all = await db.read((q) => rows(q.select().from(db.tables.events)))
  const wanted = (await causesOf(db)).map(({ name }) => name)
  const faults = eventDifferences(
    wanted,
    all.flatMap((event) => nameOf(event) ?? []),
  )
  const places = new Set(all.map(({ subject, place }) => `${subject} ${place}`))
  if (places.size < all.length) faults.push('two events of a subject have one place')
  for (const { id: account, lowBalance: low } of accounts) {
    const own = transfers.filter(({ accountId }) => accountId === account)
    const told = all.filter(({ subject, type }) => subject === account && /^balance/.test(type))
    const story = {
      account,
      low,
      transfers: own.sort((a, b) => a.seq - b.seq),
      told: told.sort((a, b) => a.place - b.place),
      wasRefused: (required: bigint) => m.refused.has(`${account} ${required}`),
    }
    faults.push(...balanceFaults(story))
  }
  return faults
}

/** How many events of each type there are. */
export async function toldTypes(db: Db): Promise<Map<string, number>> {
  const all = await db.read((q) =>
    rows(q.select({ type: db.tables.events.type }).from(db.tables.events)),
  )
  return new Map(
    [...Map.groupBy(all, ({ type }) => type)].map(([type, some]) => [type, some.length]),
  )
}
