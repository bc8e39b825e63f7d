/** Tells how far the receipts of ended runs have come, as every other page does. */
import type { Deps } from '../app/deps-port.ts'
import { indexIn } from '../proof/log/logs.ts'
import { readStages, type Stage } from '../proof/receipts/shown-receipt.ts'
import type { RunRow } from '../storage/db/schema/schema.ts'

export type ReceiptStateOf = (run: RunRow) => Stage

/** Reads the newest anchors once, for all runs of a page. */
export async function readReceiptStates(
  deps: Pick<Deps, 'anchors' | 'logs'>,
): Promise<ReceiptStateOf> {
  const issuers = deps.logs.all.map(({ origin }) => origin)
  const stageOf = await readStages(deps, issuers)
  return (run) => stageOf(run.issuer, indexIn(deps.logs, run))
}
