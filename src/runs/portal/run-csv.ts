/** The rows of a list of runs as a CSV file. */

import type { Deps } from '../../app/deps-port.ts'
import type { Whose } from '../../kernel/acting.ts'
import { toRfc3339 } from '../../kernel/clock.ts'
import { plainField, textField, toLine } from '../../kernel/csv.ts'
import { toUsd } from '../../kernel/money.ts'
import { inputUnitsOf, outputUnitsOf } from '../../models/meter.ts'
import { receiptIdOf } from '../../proof/receipts/receipt.ts'
import { type CsvRead, listAsCsv } from '../../web/http/csv-download.ts'
import type { Download } from '../../web/http/download.ts'
import { isInFlight, type ShownRun } from '../shown-run.ts'

const columns = [
  ...['run', 'receipt', 'created_at', 'status', 'model', 'key', 'key_name'],
  ...['input_units', 'output_units', 'cost_usd', 'cost_nusd', 'duration_ms'],
]

export const runsAsCsv = (
  { exportSlots }: Pick<Deps, 'exportSlots'>,
  { account }: Whose,
  read: CsvRead<ShownRun>,
): Download =>
  listAsCsv(read, {
    fileName: 'counterfoil-runs.csv',
    columns,
    lineOf,
    take: () => exportSlots.take(account),
  })

/** A run in flight has no receipt and no cost yet. */
const lineOf = ({ run, keyName }: ShownRun): string => {
  const isOpen = isInFlight(run)
  return toLine([
    plainField(run.id),
    isOpen ? '' : plainField(receiptIdOf(run.id)),
    plainField(toRfc3339(run.createdAt)),
    plainField(run.status),
    textField(run.model),
    plainField(run.keyId),
    textField(keyName),
    plainField(inputUnitsOf(run.lines)),
    plainField(outputUnitsOf(run.lines)),
    isOpen ? '' : plainField(toUsd(run.cost)),
    isOpen ? '' : plainField(run.cost),
    run.durationMs === null ? '' : plainField(run.durationMs),
  ])
}
