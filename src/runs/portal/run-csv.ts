/** The rows of a list of runs as a CSV file. */
import { plainField, textField, toLine } from '../../billing/usage/csv.ts'
import { toRfc3339 } from '../../kernel/clock.ts'
import { toUsd } from '../../kernel/money.ts'
import { inputUnitsOf, outputUnitsOf } from '../../models/meter.ts'
import { receiptIdOf } from '../../proof/receipts/receipt.ts'
import { isInFlight, type ShownRun } from '../shown-run.ts'

const header = [
  ...['run', 'receipt', 'created_at', 'status', 'model', 'key', 'key_name'],
  ...['input_units', 'output_units', 'cost_usd', 'cost_nusd', 'duration_ms'],
]

/** A run in flight has no receipt and no cost yet. */
export const runsAsCsv = (items: readonly ShownRun[]): string =>
  toLine(header) + items.map(lineOf).join('')

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
