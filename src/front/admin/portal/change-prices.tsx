/** The prices of a model in its form, and what a change makes of them. */
import type {
  ChangeProposal,
  PriceMargin,
  WrittenPrice,
} from '../../../app/changes/changes-port.ts'
import { marginPercent } from '../../../billing/margins/margins.ts'
import { toPrice, toUsd } from '../../../kernel/money.ts'
import { rateText } from '../../../models/pages/shown-rates.ts'
import { costFields, isPerToken } from '../../../models/rate-fields.ts'
import { meterWords } from '../../../verify/meter-words.ts'
import type { FormFields } from '../../../web/ui/form-panel.tsx'
import { Notice } from '../../../web/ui/notice.tsx'
import { Panel } from '../../../web/ui/panel.tsx'
import { Badge } from '../../../web/ui/status.tsx'
import { type Column, Table } from '../../../web/ui/table.tsx'

export const priceFields = (prices: readonly WrittenPrice[]): FormFields => ({
  ...Object.fromEntries(prices.map((price) => [price.field, priceField(price)])),
  may_lose: {
    kind: 'check',
    label: 'Sell below cost',
    hint: 'Without it a price below the cost of a step is refused.',
  },
  cost_unknown: {
    kind: 'check',
    label: 'The cost is not known: sell at this price anyway',
    hint: 'Without it no price is lowered where a step of the route has no cost.',
  },
})

function priceField({ field, value, cost, isNeeded }: WrittenPrice): FormFields[string] {
  const meter = costFields[field]
  const [per, show] = isPerToken(field)
    ? ['$ / M', (pusd: bigint) => toPrice(pusd).replace('/M', '')]
    : [meter === 'request' ? '$ a run' : '$ a call', toUsd]
  const known = cost === undefined ? 'Its cost is not known.' : `It costs $${show(cost)} at most.`
  return {
    label: `${meterWords(meter)}, ${per}`,
    inputmode: 'decimal',
    half: true,
    required: isNeeded,
    initial: value === undefined ? '' : show(value),
    hint: isNeeded || value !== undefined ? known : `${known} Left empty, another rate holds.`,
  }
}

export const PriceReview = ({ of: { margins, losses } }: { of: ChangeProposal }) => (
  <>
    {losses.length === 0 ? null : (
      <Notice tone="warn" title="Sold below cost.">
        {losses.map((loss) => (
          <span class="line">{loss}.</span>
        ))}
      </Notice>
    )}
    {margins.length === 0 ? null : (
      <Panel id="prices" title="Prices after the change">
        <Table caption="Prices after the change" columns={marginColumns} rows={margins} />
      </Panel>
    )}
  </>
)

const marginColumns: Column<PriceMargin>[] = [
  { head: 'Of', cell: ({ meter }) => meterWords(meter) },
  {
    head: 'Now',
    kind: 'optional',
    cell: ({ meter, before: pusd }) => (pusd === undefined ? '–' : rateText({ meter, pusd })),
  },
  { head: 'Then', at: 'more', cell: ({ meter, after: pusd }) => rateText({ meter, pusd }) },
  {
    head: 'Cost at most',
    kind: 'optional',
    cell: ({ meter, cost: pusd }) => (pusd === undefined ? 'Unknown' : rateText({ meter, pusd })),
  },
  { head: 'Margin', kind: 'number', cell: (margin) => <Share of={margin} /> },
]

const Share = ({ of }: { of: PriceMargin }) =>
  of.cost !== undefined && of.after < of.cost ? (
    <Badge tone="bad">Loss</Badge>
  ) : (
    <span>{percentOf(of)}</span>
  )

function percentOf({ after: revenue, cost }: PriceMargin): string {
  const percent = cost === undefined ? null : marginPercent({ runs: 0, revenue, cost })
  return percent === null ? '–' : `${percent} %`
}
