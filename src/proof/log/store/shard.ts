/** Remembers which shard a database is, and which slots it has. */
import type { Shard } from '../../../kernel/shard.ts'
import type { Db } from '../../../storage/db/engine/db.ts'
import { ensureFactIn, readFact } from '../../../storage/db/sql/facts.ts'
import { first, type Query, rows, type Work } from '../../../storage/db/sql/query-steps.ts'
import { parseSlots, slotsText } from '../../../storage/slots/slot-text.ts'
import { shardFact } from '../../../storage/slots/store/owners.ts'

/**
 * Makes an empty database the shard of the configuration, for good, with the slots of that time,
 * as `s3 256-383`. Changes nothing without one. A file may be older or newer than a move of a slot.
 * @throws Error if the database is another shard, has other slots, or was used without shards: two
 * shards would each take the money of one account as their own
 */
export function* ensureShard(db: Db, q: Query, shard: Shard | undefined): Work<void> {
  const known = yield* readFact(db, q, shardFact)
  if (known === undefined && !shard) return
  if (!shard) throw new Error(unnamed(`${known}`))
  if (known === undefined) yield* assertUnused(db, q, shard.id)
  const value = factOf(shard)
  // Two first starts at once both get the fact that the faster one wrote.
  const stored = known ?? (yield* ensureFactIn(db, q, shardFact, value))
  if (stored === value) return
  const { slots } = db.tables
  const moved = (yield* rows(q.select({ slot: slots.slot }).from(slots))).map(({ slot }) => slot)
  if (!differsBy(stored, value, new Set(moved))) throw new Error(isOther(stored, value))
}

/** Whether two facts are the same shard, and differ at most in these slots. */
function differsBy(one: string, other: string, slots: ReadonlySet<number>): boolean {
  const [is, says] = [partsOf(one), partsOf(other)]
  if (is.id !== says.id) return false
  return [...is.slots.symmetricDifference(says.slots)].every((slot) => slots.has(slot))
}

function partsOf(fact: string): { id: string; slots: Set<number> } {
  const at = fact.indexOf(' ')
  return { id: fact.slice(0, at), slots: new Set(parseSlots(fact.slice(at + 1))) }
}

const factOf = ({ id, all }: Shard): string =>
  `${id} ${slotsText(all.find((one) => one.id === id)?.slots ?? [])}`

/** Receipts name their log, and secrets their slot: neither can be given later. */
function* assertUnused(db: Db, q: Query, id: string): Work<void> {
  const { accounts, logLeaves } = db.tables
  const account = yield* first(q.select({ id: accounts.id }).from(accounts).limit(1))
  const leaf = yield* first(q.select({ idx: logLeaves.idx }).from(logLeaves).limit(1))
  if (account === undefined && leaf === undefined) return
  throw new Error(
    `this database was used without [shard], and cannot become the shard ${id}: its keys and ids ` +
      'name no shard. Remove [shard], or give the shard an empty database of its own',
  )
}

const unnamed = (known: string): string =>
  `this database is the shard ${nameOf(known)}, but the configuration has no [shard]: set ` +
  'shard.id and shard.map as on the other nodes of that shard'

function isOther(known: string, wanted: string): string {
  const [is, says] = [nameOf(known), nameOf(wanted)]
  const other = `this database is the shard ${is}, but the configuration says ${says}`
  return known.split(' ', 1)[0] === wanted.split(' ', 1)[0]
    ? `${other}: slots do not move by configuration, because the accounts in them stay here. ` +
        'Correct the map, or move them with: counterfoil slot move'
    : `${other}: the receipts in its log and the ids in it name the shard. Correct shard.id or ` +
        'database_url'
}

const nameOf = (fact: string): string => {
  const at = fact.indexOf(' ')
  return `${fact.slice(0, at)} with the slots "${fact.slice(at + 1)}"`
}
