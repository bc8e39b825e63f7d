import type { Deps } from '../app/deps-port.ts'
import { indexIn } from '../proof/log/logs.ts'
import type { RunRow } from '../storage/db/schema.ts'

/** How far the receipt of an ended run has come. */
export type Standing = 'signing' | 'signed' | 'anchored'

/** Says of each run how far its receipt has come. */
export type StandingOf = (run: RunRow) => Standing

/** One look at what is anchored, for all runs of a page. */
export async function readStandings({
  anchors,
  logs,
}: Pick<Deps, 'anchors' | 'logs'>): Promise<StandingOf> {
  const { origin } = logs.current
  const size = (await anchors.newest(origin))?.size ?? 0
  return (run) => {
    const index = run.issuer === origin ? indexIn(logs, run) : null
    if (index !== null && index < size) return 'anchored'
    return run.signature === null ? 'signing' : 'signed'
  }
}
