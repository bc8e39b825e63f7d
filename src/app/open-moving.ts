/** Opens one shard of a move of slots: its database, its signer, and what it credits. */
import type { Config } from '../config/config.ts'
import { WrongSetting } from '../config/ensure-folder.ts'
import { systemClock } from '../kernel/clock.ts'
import { makeIds } from '../kernel/ids.ts'
import { systemRandom } from '../kernel/random.ts'
import { ensureShard } from '../proof/log/store/shard.ts'
import { makeSealer } from '../proof/signer/sealer.ts'
import { learnMoved } from '../storage/slots/store/owners.ts'
import type { MovingShard } from './move-slots.ts'
import { openDatabase } from './open-database.ts'
import { openDataSigner } from './open-signer.ts'
import { shardIn } from './settings.ts'

/** @throws WrongSetting unless the configuration is that of a shard on PostgreSQL */
export async function openMoving(config: Config) {
  const shard = shardIn(config)
  if (!shard) throw new WrongSetting('slots move between shards: the configuration has no [shard]')
  if (!/^postgres(ql)?:/.test(config.database_url)) {
    throw new WrongSetting(`slots move on PostgreSQL alone; ${shard.id} is on SQLite`)
  }
  const { db } = await openDatabase(config)
  try {
    await db.write((q) => ensureShard(db, q, shard))
    await learnMoved(db, shard)
    const random = systemRandom()
    const signer = await openDataSigner(config, db, undefined)
    const moving: MovingShard = {
      id: shard.id,
      db: db as MovingShard['db'],
      ids: makeIds(systemClock, random, shard.id),
      sealers: {
        calls: makeSealer(signer, random),
        webhooks: makeSealer(signer, random, 'webhook secrets'),
      },
      minNusd: config.deposits.min_nusd,
    }
    return { moving, shard, close: () => db.close() }
  } catch (error) {
    await db.close()
    throw error
  }
}
