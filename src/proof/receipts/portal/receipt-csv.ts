/** The columns of the file of receipts. */
import { toRfc3339 } from '../../../kernel/clock.ts'
import { plainField, textField } from '../../../kernel/csv.ts'
import { toHex } from '../../../kernel/hex.ts'
import { toUsd } from '../../../kernel/money.ts'
import type { CsvFields } from '../../../web/http/csv-download.ts'
import { receiptIdOf } from '../receipt.ts'
import type { ShownReceipt } from '../shown-receipt.ts'

export const receiptFields: CsvFields<ShownReceipt> = {
  receipt: ({ run }) => plainField(receiptIdOf(run.id)),
  run: ({ run }) => plainField(run.id),
  issued_at: ({ run }) => plainField(toRfc3339(run.finishedAt)),
  outcome: ({ run }) => plainField(run.outcome ?? ''),
  model: ({ run }) => textField(run.model),
  key: ({ run }) => plainField(run.keyId),
  cost_usd: ({ run }) => plainField(toUsd(run.cost)),
  cost_nusd: ({ run }) => plainField(run.cost),
  state: ({ stage }) => plainField(stage),
  visibility: ({ visibility }) => plainField(visibility),
  digest: ({ run }) => plainField(toHex(run.digest)),
}
