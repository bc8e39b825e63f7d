/** Learns which slots moved to or from this shard. */
import type { Db } from '../storage/db/engine/db.ts'
import { learnMoved } from '../storage/slots/store/owners.ts'
import type { Deps } from './deps-port.ts'

/** Callers that were read before a slot moved are forgotten. */
export async function learnSlots({ keys, shard }: Pick<Deps, 'keys' | 'shard'>, db: Db) {
  if (await learnMoved(db, shard)) keys.forgetAll()
}
