/** The columns of the file of runs. A run in flight has no receipt and no cost yet. */
import { toRfc3339 } from '../../kernel/clock.ts'
import { plainField, textField } from '../../kernel/csv.ts'
import { toUsd } from '../../kernel/money.ts'
import { inputUnitsOf, outputUnitsOf } from '../../models/meter.ts'
import { receiptIdOf } from '../../proof/receipts/receipt.ts'
import type { CsvFields } from '../../web/http/csv-download.ts'
import { isInFlight, type ShownRun } from '../shown-run.ts'

export const runFields: CsvFields<ShownRun> = {
  run: ({ run }) => plainField(run.id),
  receipt: ({ run }) => (isInFlight(run) ? '' : plainField(receiptIdOf(run.id))),
  created_at: ({ run }) => plainField(toRfc3339(run.createdAt)),
  status: ({ run }) => plainField(run.status),
  model: ({ run }) => textField(run.model),
  key: ({ run }) => plainField(run.keyId),
  key_name: ({ keyName }) => textField(keyName),
  input_units: ({ run }) => plainField(inputUnitsOf(run.lines)),
  output_units: ({ run }) => plainField(outputUnitsOf(run.lines)),
  cost_usd: ({ run }) => (isInFlight(run) ? '' : plainField(toUsd(run.cost))),
  cost_nusd: ({ run }) => (isInFlight(run) ? '' : plainField(run.cost)),
  duration_ms: ({ run }) => plainField(run.durationMs ?? ''),
}
