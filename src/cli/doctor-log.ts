/** The `doctor` checks of the log, lost receipts and replication. */
import { openHeads } from '../app/open-signer.ts'
import type { Config } from '../config/config.ts'
import { systemClock } from '../kernel/clock.ts'
import { headStore } from '../proof/log/store/head.ts'
import { readWholeLogs } from '../proof/log/store/whole.ts'
import { logStore } from '../proof/log/store.ts'
import { countLost, lostPathOf } from '../proof/receipts/store/lost.ts'
import { findHistory } from '../proof/signer/store.ts'
import type { Db } from '../storage/db/engine/db.ts'
import {
  readReplication,
  replicationFault,
  replicationFix,
} from '../storage/db/engine/replication.ts'
import { type Finding, failure, fine, quote, warning } from './finding.ts'

/** Checks the log against every head known to this data folder or to another node. */
export async function lookAtLog(config: Config, db: Db): Promise<Finding[]> {
  const history = await findHistory(db)
  if (!history) return []
  const { logs } = history
  const { origin, start } = logs.current
  const log = logStore(db, { clock: systemClock, node: 'doctor', start })
  const { heads } = openHeads(config)
  const strange = heads.find(({ issuer }) => !logs.of(issuer))
  if (strange) {
    const what = `A head with ${strange.size} leaves of ${strange.issuer} is known`
    return [failure('log', `${what}, but the database has no such log.`, reopenFix)]
  }
  const known = [
    ...heads.filter(({ issuer }) => issuer === origin),
    await headStore(db).lacked(origin),
  ]
  const newest = known.reduce((a, b) => (b && b.size > (a?.size ?? 0) ? b : a), undefined)
  const fault = newest && (await log.faultOf(newest))
  if (newest && fault !== undefined) {
    const what = `A head with ${newest.size} leaves of ${origin} is known, but ${fault}.`
    return [failure('log', what, reopenFix), ...lostIn(config)]
  }
  const { logs: read, faults } = await readWholeLogs(db, true)
  if (faults.length > 0) return [damaged(faults), ...lostIn(config)]
  const size = read.find((one) => one.origin === origin)?.size ?? 0
  const words = `It has ${size} leaves, which give every signed root and every known head.`
  return [fine('log', words), ...lostIn(config)]
}

function damaged(faults: readonly string[]): Finding {
  const [first = '', ...more] = faults
  const others = more.length === 0 ? '' : ` (and ${more.length} more faults)`
  const words = `${first[0]?.toUpperCase()}${first.slice(1)}${others}.`
  return failure('log', words, 'docs/signer.md, "A leaf that is damaged"')
}

const reopenFix =
  'restore the right database; if it is lost, stop all servers and run: counterfoil log reopen'

function lostIn({ data }: Config): Finding[] {
  const count = countLost(data)
  if (count === undefined) return []
  const path = lostPathOf(data)
  const words = `The database lost ${count} receipts that clients hold; ${path} lists them.`
  return [warning('receipts', words, `settle them with your customers, then: rm ${quote(path)}`)]
}

/** Checks whether a COMMIT survives a crash of the database server, and a failover. */
export async function lookAtReplication(db: Db): Promise<Finding[]> {
  const found = await readReplication(db)
  if (!found) return []
  const fault = replicationFault(found)
  if (fault !== undefined) {
    const words = `${fault[0]?.toUpperCase()}${fault.slice(1)}.`
    return [warning('replicas', words, replicationFix)]
  }
  const words =
    found.standbys > 0
      ? 'Every COMMIT waits for a standby.'
      : 'Every COMMIT is synced; no standby follows the server.'
  return [fine('replicas', words)]
}
