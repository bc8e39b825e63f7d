/** Writes receipts of a list as lines of a CSV file. */
import type { Deps } from '../../../app/deps-port.ts'
import type { Whose } from '../../../kernel/acting.ts'
import { toRfc3339 } from '../../../kernel/clock.ts'
import { plainField, textField, toLine } from '../../../kernel/csv.ts'
import { toHex } from '../../../kernel/hex.ts'
import { toUsd } from '../../../kernel/money.ts'
import { type CsvRead, listAsCsv } from '../../../web/http/csv-download.ts'
import type { Download } from '../../../web/http/download.ts'
import { receiptIdOf } from '../receipt.ts'
import type { ShownReceipt } from '../shown-receipt.ts'

const columns = [
  ...['receipt', 'run', 'issued_at', 'outcome', 'model', 'key', 'cost_usd', 'cost_nusd'],
  ...['state', 'visibility', 'digest'],
]

export const receiptsAsCsv = (
  { exportSlots }: Pick<Deps, 'exportSlots'>,
  { account }: Whose,
  read: CsvRead<ShownReceipt>,
): Download =>
  listAsCsv(read, {
    fileName: 'counterfoil-receipts.csv',
    columns,
    lineOf,
    take: () => exportSlots.take(account),
  })

const lineOf = ({ run, visibility, stage }: ShownReceipt): string =>
  toLine([
    plainField(receiptIdOf(run.id)),
    plainField(run.id),
    plainField(toRfc3339(run.finishedAt)),
    plainField(run.outcome ?? ''),
    textField(run.model),
    plainField(run.keyId),
    plainField(toUsd(run.cost)),
    plainField(run.cost),
    plainField(stage),
    plainField(visibility),
    plainField(toHex(run.digest)),
  ])
