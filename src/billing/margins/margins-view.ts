/** Margins as JSON and as CSV, for the operator. */
import { toRfc3339 } from '../../kernel/clock.ts'
import { plainField, textField, toLine } from '../../kernel/csv.ts'
import { toJsonInteger, toUsd } from '../../kernel/money.ts'
import { toChecksumAddress } from '../../verify/address.ts'
import { toDate } from '../usage/usage-view.ts'
import type { MarginGroup, MarginSums } from './margin.ts'
import { type Margins, marginOf, marginPercent } from './margins.ts'

export const toMarginsView = ({ from, to, by, rows, totals, uncounted }: Margins) => ({
  object: 'margins' as const,
  from: toRfc3339(from),
  to: toRfc3339(to),
  by,
  data: rows.map(({ name, ...sums }) => ({ [by]: nameText(by, name), ...toSumsView(sums) })),
  totals: toSumsView(totals),
  uncounted,
})

/** A model as it is, an address with its checksum, a day as its date. */
export const nameText = (by: MarginGroup, name: string): string =>
  by === 'day' ? toDate(Number(name)) : by === 'account' ? toChecksumAddress(name) : name

const toSumsView = (sums: MarginSums) => {
  const { runs, revenue, cost } = sums
  const margin = marginOf(sums)
  return {
    runs,
    revenue_nusd: toJsonInteger(revenue),
    revenue_usd: toUsd(revenue),
    cost_nusd: toJsonInteger(cost),
    cost_usd: toUsd(cost),
    margin_nusd: toJsonInteger(margin),
    margin_usd: toUsd(margin),
    margin_percent: marginPercent(sums),
  }
}

/** One line a row, in decimal USD; no line of totals. */
export function toMarginsCsv({ by, rows }: Margins): string {
  const header = toLine([by, 'runs', 'revenue_usd', 'cost_usd', 'margin_usd', 'margin_percent'])
  const lines = rows.map(({ name, ...sums }) =>
    toLine([
      textField(nameText(by, name)),
      plainField(sums.runs),
      plainField(toUsd(sums.revenue)),
      plainField(toUsd(sums.cost)),
      plainField(toUsd(marginOf(sums))),
      plainField(marginPercent(sums) ?? ''),
    ]),
  )
  return header + lines.join('')
}
