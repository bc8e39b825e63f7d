/** Tells how far the receipts of ended runs have come: signing, signed or anchored. */
import type { Deps } from '../app/deps-port.ts'
import { indexIn } from '../proof/log/logs.ts'
import type { RunRow } from '../storage/db/schema.ts'

export type ReceiptState = 'signing' | 'signed' | 'anchored'
export type ReceiptStateOf = (run: RunRow) => ReceiptState

/** Reads the newest anchor once, for all runs of a page. */
export async function readReceiptStates({
  anchors,
  logs,
}: Pick<Deps, 'anchors' | 'logs'>): Promise<ReceiptStateOf> {
  const { origin } = logs.current
  const size = (await anchors.newest(origin))?.size ?? 0
  return (run) => {
    const index = run.issuer === origin ? indexIn(logs, run) : null
    if (index !== null && index < size) return 'anchored'
    return run.signature === null ? 'signing' : 'signed'
  }
}
