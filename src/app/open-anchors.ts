/** Opens what the commands about anchors need. */
import type { Config } from '../config/config.ts'
import { newHealth } from '../front/status/health.ts'
import { systemClock } from '../kernel/clock.ts'
import { makeIds } from '../kernel/ids.ts'
import { systemRandom } from '../kernel/random.ts'
import { logsOf } from '../proof/log/logs.ts'
import { checkpointStore } from '../proof/log/store/checkpoint.ts'
import { logStore as openLogStore } from '../proof/log/store.ts'
import { findHistory } from '../proof/signer/store.ts'
import { openLeaseClock } from '../storage/db/engine/lease-clock.ts'
import { makeAnchoring } from './anchoring.ts'
import { openLog } from './logging.ts'
import { openDatabase } from './open-database.ts'
import { openAnchorSender } from './open-signer.ts'
import { originOf } from './settings.ts'

/** Works beside a running server, and before the first start. */
export async function openAnchorOffice(config: Config) {
  const { db } = await openDatabase(config)
  const clock = systemClock
  const random = systemRandom()
  const sender = openAnchorSender(config)
  try {
    const leaseClock = await openLeaseClock(db, clock)
    const found = await findHistory(db)
    const node = `command_${Buffer.from(random.bytes(8)).toString('hex')}`
    const log = openLog({ level: 'error', format: 'pretty' })
    const start = found?.logs.current.start ?? 0
    const logStore = openLogStore(db, { clock: leaseClock, node, start })
    const noSigners = { wasSignedAgain: () => false }
    const checkpoints = checkpointStore(db, found?.signers ?? noSigners)
    const signerAddresses = found?.signers.all.map(({ address }) => address) ?? []
    // Before the first start: the log as it will be.
    const logs = found?.logs ?? logsOf([{ ...unopened, origin: originOf(config) }])
    const opened = {
      db,
      node,
      sender,
      signerAddresses,
      checkpoints,
      clock,
      leaseClock,
      logs,
      random,
    }
    const made = await makeAnchoring(config, opened)
    const health = newHealth(clock)
    const ids = makeIds(clock, random, config.shard.id)
    const isOpened = found !== undefined
    const parts = { ...made, isOpened, logs, checkpoints, logStore, health, ids, clock, log }
    return { ...parts, [Symbol.asyncDispose]: () => db.close() }
  } catch (error) {
    await db.close()
    throw error
  }
}

const unopened = { start: 0, openedAt: 0, reason: '' }
