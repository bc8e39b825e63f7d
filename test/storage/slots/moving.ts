import type { MovingShard } from '../../../src/app/move-slots.ts'
import { systemRandom } from '../../../src/kernel/random.ts'
import { makeSealer } from '../../../src/proof/signer/sealer.ts'
import type { PgDirect } from '../../../src/storage/db/engine/pg-drizzle.ts'
import { usd } from '../../support/world.ts'
import type { ShardWorld } from './shards.ts'

/** A shard of a test as the command that moves slots opens it. */
export function movingShard({ db, deps }: ShardWorld): MovingShard {
  if (!deps.shard || !('drizzle' in db)) throw new Error('no shard on PostgreSQL')
  const random = systemRandom()
  return {
    id: deps.shard.id,
    db: db as MovingShard['db'] & { drizzle: PgDirect },
    ids: deps.ids,
    sealers: {
      calls: makeSealer(deps.signer, random),
      webhooks: makeSealer(deps.signer, random, 'webhook secrets'),
    },
    minNusd: usd / 100n,
  }
}
