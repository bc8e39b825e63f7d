/** Opens what the commands that change the log or its signer need. */
import type { Config } from '../config/config.ts'
import { newHealth } from '../front/status/health.ts'
import { systemClock } from '../kernel/clock.ts'
import { makeIds } from '../kernel/ids.ts'
import type { Log } from '../kernel/log.ts'
import { systemRandom } from '../kernel/random.ts'
import { makeHeads } from '../proof/log/heads.ts'
import { checkpointStore } from '../proof/log/store/checkpoint.ts'
import { cosignatureStore } from '../proof/log/store/cosignatures.ts'
import { headStore } from '../proof/log/store/head.ts'
import { ensureShard } from '../proof/log/store/shard.ts'
import { tileStore } from '../proof/log/store/tiles.ts'
import { logStore as openLogStore } from '../proof/log/store.ts'
import { logNoteSigner } from '../proof/signer/ed25519.ts'
import { openSource } from '../proof/signer/source.ts'
import { assertSame, findHistory } from '../proof/signer/store.ts'
import { liveNodes } from '../storage/db/engine/lease.ts'
import { leaseMs, openLeaseClock } from '../storage/db/engine/lease-clock.ts'
import { assertFileIsThere } from './missing-database.ts'
import { lockDatabase, openDatabase } from './open-database.ts'
import { keySourceOf, openHeads } from './open-signer.ts'
import { witnessesOf } from './open-witnesses.ts'
import { shardIn } from './settings.ts'

/**
 * Opens the log and its signer for one command, alone: no server may run meanwhile.
 * @throws Error while a server runs on the data folder or the database, or before the first start.
 */
export async function openLogOffice(config: Config, log: Log) {
  assertFileIsThere(config)
  const lock = lockDatabase(config)
  const clock = systemClock
  const random = systemRandom()
  const { db } = await openDatabase(config, { lock }).catch((error: unknown) => {
    lock?.release()
    throw error
  })
  const close = async () => {
    await db.close()
    lock?.release()
  }
  try {
    const leaseClock = await openLeaseClock(db, clock)
    const [alive] = db.exclusive ? [] : await db.read((q) => liveNodes(db, q, leaseClock.now()))
    if (alive) throw new Error(stillAlive(alive))
    await db.write((q) => ensureShard(db, q, shardIn(config)))
    const history = await findHistory(db)
    if (!history) throw new Error('this database has no log yet; start the server once')
    const { logs, signers } = history
    const logStore = openLogStore(db, {
      clock: leaseClock,
      node: 'command',
      start: logs.current.start,
    })
    const checkpoints = checkpointStore(db, signers)
    const ids = makeIds(clock, random, config.shard.id)
    const [store, file] = [headStore(db), openHeads(config)]
    const opened = { db, clock, leaseClock, log, logs, logStore, checkpoints }
    const beside = { health: newHealth(clock), settings: { nodes: 1 }, distrust: () => {} }
    const heads = makeHeads({ ...opened, ...beside, store, file })
    const parts = { ...opened, random, ids, signers, heads, headStore: store, headFile: file }
    return { ...parts, close, [Symbol.asyncDispose]: close }
  } catch (error) {
    await close()
    throw error
  }
}

/**
 * Opens what `log export` reads, also beside a running server.
 * @throws Error before the first start, or with another key than signs the log.
 */
export async function openExportOffice(config: Config, envKey: string | undefined) {
  const { db } = await openDatabase(config)
  try {
    const history = await findHistory(db)
    if (!history) throw new Error('this database has no log yet; start the server once')
    const { logs, signers } = history
    const { address } = signers.current
    const signer = openSource(keySourceOf(config, envKey), address, systemRandom())
    assertSame(address, signer)
    const time = { clock: await openLeaseClock(db, systemClock), node: 'command' }
    return {
      logs,
      tiles: tileStore(db),
      checkpoints: checkpointStore(db, signers),
      cosignatures: cosignatureStore(db, time),
      witnesses: witnessesOf(config),
      noteSigner: logNoteSigner(signer),
      [Symbol.asyncDispose]: () => db.close(),
    }
  } catch (error) {
    await db.close()
    throw error
  }
}

/** A node that was killed counts as alive until its lease ends. */
const stillAlive = (node: string): string =>
  `the server ${node} runs on this database; stop it first. If it was killed, wait ` +
  `${leaseMs / 1000} s and try again`
