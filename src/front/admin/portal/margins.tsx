/** The operator's view of margins: revenue, cost and what is sold below cost. */
import type { Deps } from '../../../app/deps-port.ts'
import { readMarginQuery } from '../../../billing/margins/api/margin-query.ts'
import { lossWords } from '../../../billing/margins/losses.ts'
import { type MarginGroup, type MarginRow, marginGroups } from '../../../billing/margins/margin.ts'
import type { Margins } from '../../../billing/margins/margins.ts'
import { marginOf, marginPercent, marginsOf } from '../../../billing/margins/margins.ts'
import { toMarginsView } from '../../../billing/margins/margins-view.ts'
import { RangeForm, rangeOf } from '../../../billing/usage/portal/range-form.tsx'
import { Refusal } from '../../../kernel/refusal.ts'
import { pathWith } from '../../../web/http/query.ts'
import { Address } from '../../../web/ui/address.tsx'
import { Amount } from '../../../web/ui/amount.tsx'
import { ButtonLink } from '../../../web/ui/button.tsx'
import { Empty } from '../../../web/ui/empty.tsx'
import { Tabs } from '../../../web/ui/filters.tsx'
import type { Frame } from '../../../web/ui/frame.ts'
import { ErrorNote, Notice } from '../../../web/ui/notice.tsx'
import { Figures, Pad, Panel } from '../../../web/ui/panel.tsx'
import { Badge } from '../../../web/ui/status.tsx'
import { type Column, Table } from '../../../web/ui/table.tsx'
import { dateText } from '../../../web/ui/when.tsx'
import { paths } from './admin-frame.tsx'
import { adminView } from './answer.tsx'

export const adminMarginsPortal = (deps: Deps, frame: Frame) =>
  adminView(deps, frame, {
    title: 'Margins',
    tab: paths.margins,
    read: (query) => viewOf(deps, query),
    panel: (view) => <MarginsPage view={view} />,
    json: ({ found }) => {
      if (found instanceof Refusal) throw found
      return toMarginsView(found)
    },
  })

type View = {
  /** The query of the address, which the forms and links keep. */
  query: URLSearchParams
  found: Margins | Refusal
  losses: readonly string[]
  /** Models with a route step whose cost is not known, built-in ones left out. */
  unknown: readonly string[]
}

async function viewOf(deps: Deps, query: URLSearchParams): Promise<View> {
  const models = deps.catalogue.list()
  const view = {
    query,
    losses: lossWords(models, deps.plans.list),
    unknown: models
      .filter(({ status, verifiable }) => status !== 'disabled' && verifiable === 'none')
      .filter(({ route }) => route.some(({ cost }) => !cost))
      .map(({ id }) => id),
  }
  try {
    return { ...view, found: await marginsOf(deps, readMarginQuery(query, deps.clock.now())) }
  } catch (error) {
    if (!(error instanceof Refusal) || error.type !== 'invalid_request') throw error
    return { ...view, found: error }
  }
}

const MarginsPage = ({ view }: { view: View }) => (
  <section id="margins" class="stack" aria-label="Margins">
    <RangeForm path={paths.margins} query={view.query} keeps="by" found={view.found} />
    <Losses of={view.losses} />
    {view.found instanceof Refusal ? (
      <ErrorNote
        what={view.found.message}
        retry={<ButtonLink href={paths.margins}>Show the last 30 days</ButtonLink>}
      />
    ) : (
      <Found query={view.query} of={view.found} unknown={view.unknown} />
    )}
  </section>
)

/** Above everything else on the page of models, too. */
export const Losses = ({ of }: { of: readonly string[] }) =>
  of.length === 0 ? null : (
    <Notice tone="warn" title="Sold below cost.">
      Raise these prices in <code>counterfoil.toml</code>, or correct the <code>cost</code> of the
      route step.
      {of.slice(0, lossesShown).map((loss) => (
        <span class="line">{loss}.</span>
      ))}
      {of.length > lossesShown ? (
        <span class="line">And {of.length - lossesShown} more.</span>
      ) : null}
    </Notice>
  )

const lossesShown = 20

/** Rows of the page; the command line and the JSON have all of them. */
const rowsShown = 200

type FoundProps = { query: URLSearchParams; of: Margins; unknown: readonly string[] }

const Found = ({ query, of, unknown }: FoundProps) => (
  <>
    <Figures
      label={`${dateText(of.from)} to ${dateText(of.to - 1)}`}
      of={[
        [<Amount nusd={of.totals.revenue} as="list" />, 'Revenue'],
        [<Amount nusd={of.totals.cost} as="list" />, 'Cost'],
        [<Amount nusd={marginOf(of.totals)} as="list" />, 'Margin'],
        [percentText(marginPercent(of.totals)) || 'None', 'Margin, of revenue'],
        [of.totals.runs.toLocaleString('en-US'), 'Runs with a known cost'],
      ]}
    />
    <Panel
      id="margin-rows"
      title={`By ${of.by}`}
      aside={
        <Tabs
          label="Group by"
          tabs={marginGroups.map((by) => ({ href: hrefBy(query, by), label: groupWords[by] }))}
          here={hrefBy(query, of.by)}
        />
      }
      foot={of.rows.length === 0 ? null : <Foot of={of} />}
    >
      {of.rows.length === 0 ? (
        <Empty hash="margins" title="No run of these days has a known cost">
          Give the steps of a route their <code>cost</code>, or import prices with a markup:{' '}
          <code>counterfoil models import</code>.
        </Empty>
      ) : (
        <Table
          caption={`Margins by ${of.by}`}
          columns={columnsOf(of)}
          rows={of.rows.slice(0, rowsShown)}
        />
      )}
      {unknown.length === 0 ? null : <Unknown models={unknown} />}
    </Panel>
  </>
)

const Unknown = ({ models }: { models: readonly string[] }) => (
  <Pad>
    <p class="quiet">
      Runs of a route step without a <code>cost</code> are not counted here. Models with such a
      step: {models.slice(0, 10).join(', ')}
      {models.length > 10 ? ` and ${models.length - 10} more` : ''}.
    </p>
  </Pad>
)

const Foot = ({ of: { by, rows, uncounted } }: { of: Margins }) => {
  const which = by === 'day' ? 'first' : 'lowest margins'
  const shown = `The ${rowsShown} ${which} of ${rows.length}; counterfoil margins lists all.`
  const behind = `${uncounted.toLocaleString('en-US')} newer leaves are not counted yet.`
  return (
    <span>
      {rows.length > rowsShown ? shown : ''} {uncounted === 0 ? '' : behind}
    </span>
  )
}

const groupWords: Record<MarginGroup, string> = { model: 'Model', account: 'Account', day: 'Day' }

/** The same range in other groups. */
const hrefBy = (query: URLSearchParams, by: MarginGroup): string =>
  pathWith(paths.margins, { ...rangeOf(query), by })

function columnsOf({ by, totals }: Margins): Column<MarginRow>[] {
  return [
    { head: groupWords[by], cell: ({ name }) => <Name by={by} name={name} />, total: 'Total' },
    {
      head: 'Runs',
      kind: 'optional-number',
      cell: ({ runs }) => runs.toLocaleString('en-US'),
      total: totals.runs.toLocaleString('en-US'),
    },
    {
      head: 'Revenue',
      kind: 'number',
      cell: ({ revenue }) => <Amount nusd={revenue} as="list" />,
      total: <Amount nusd={totals.revenue} as="list" />,
    },
    {
      head: 'Cost',
      kind: 'number',
      cell: ({ cost }) => <Amount nusd={cost} as="list" />,
      total: <Amount nusd={totals.cost} as="list" />,
    },
    {
      head: 'Margin',
      kind: 'number',
      cell: (row) => <MarginCell row={row} />,
      total: <Amount nusd={marginOf(totals)} as="list" />,
    },
    {
      head: 'Of revenue',
      kind: 'optional-number',
      cell: (row) => percentText(marginPercent(row)),
      total: percentText(marginPercent(totals)),
    },
  ]
}

const percentText = (percent: string | null): string => (percent === null ? '' : `${percent}%`)

const MarginCell = ({ row }: { row: MarginRow }) => (
  <>
    {marginOf(row) < 0n ? (
      <>
        <Badge tone="bad">Loss</Badge>{' '}
      </>
    ) : null}
    <Amount nusd={marginOf(row)} as="list" />
  </>
)

function Name({ by, name }: { by: MarginGroup; name: string }) {
  if (by === 'model') return <code>{name}</code>
  if (by === 'day') return <span>{dateText(Number(name))}</span>
  return (
    <a href={`${paths.accounts}/${name}`}>
      <Address value={name} />
    </a>
  )
}
