/** The operator's view of prices, models and upstreams. */
import type { ReloadResult } from '../../../app/reload-port.ts'
import type { Millis } from '../../../kernel/clock.ts'
import type { Model } from '../../../models/model.ts'
import { RatesPanel } from '../../../models/pages/rate-list.tsx'
import { perMillion } from '../../../models/pages/shown-rates.ts'
import { StatusBadge } from '../../../models/pages/status-badge.tsx'
import { modelsByHour } from '../../../models/price-hours.ts'
import { dearestPrices, pricesAt } from '../../../models/step-prices.ts'
import { meterWords } from '../../../verify/meter-words.ts'
import { Amount } from '../../../web/ui/amount.tsx'
import { Button, ButtonLink } from '../../../web/ui/button.tsx'
import { ActionForm } from '../../../web/ui/form.tsx'
import { Hash } from '../../../web/ui/hash.tsx'
import { Notice } from '../../../web/ui/notice.tsx'
import { Facts, Pad, Panel } from '../../../web/ui/panel.tsx'
import { Badge } from '../../../web/ui/status.tsx'
import { type Column, Table } from '../../../web/ui/table.tsx'
import { When } from '../../../web/ui/when.tsx'
import type { LearnedFact, OperatedModels } from '../operated-models.ts'
import type { Contradictions, UnpricedUnits } from '../unpriced.ts'
import { paths } from './admin-frame.tsx'
import { changePath } from './change-pages.tsx'
import { Losses } from './margins.tsx'
import { upstreamColumns } from './upstream-columns.tsx'

export type ModelsView = OperatedModels & {
  canReload: boolean
  /** The result of the last reload requested on this page. */
  reloaded: ReloadResult | undefined
  now: Millis
}

export const ModelPanels = ({ view }: { view: ModelsView }) => (
  <div id="models" class="stack">
    <OtherConfigs of={view.otherConfigs} />
    <PricesPanel view={view} />
    <Losses of={view.losses} />
    <Panel id="catalogue" title="All models">
      <Table caption="Models" columns={modelColumns} rows={view.models} />
    </Panel>
    <RatesPanel models={view.models} />
    <UnpricedPanel of={view.unpriced} />
    <ContradictionPanel of={view.contradictions} />
    <Panel
      id="upstreams"
      title="Upstreams"
      aside={
        <ButtonLink small href={`${paths.models}/add`}>
          Add a provider
        </ButtonLink>
      }
      foot={<span>Counted by this process since it started.</span>}
    >
      <Table caption="Upstreams" columns={upstreamColumns(view.models)} rows={view.upstreams} />
    </Panel>
    <LearnedPanel of={view.learned} now={view.now} />
  </div>
)

/** Nodes that sell something else than the one that answers. */
const OtherConfigs = ({ of }: { of: readonly string[] }) =>
  of.length === 0 ? null : (
    <Notice tone="warn" title="Nodes with another configuration.">
      Give them the same file as this node, then reload each with <code>kill -HUP</code>:{' '}
      {of.join(', ')}.
    </Notice>
  )

const PricesPanel = ({ view }: { view: ModelsView }) => (
  <Panel id="prices" title="Price list">
    <Pad>
      <Facts
        of={[
          ['Version', <code>{`${view.prices.id}@${view.prices.version}`}</code>],
          ['Digest', <Hash value={view.prices.digest} />],
          ['Leaf of the log', view.leaf === undefined ? 'With the first receipt' : view.leaf],
          ['Since', view.since === undefined ? 'Unknown' : <When at={view.since} now={view.now} />],
        ]}
      />
      <p>
        Models and prices are set in <code>counterfoil.toml</code> under <code>[[models]]</code>.
        Edit the file, then reload it here or with <code>kill -HUP</code>. New prices get a new
        version, which enters the log before a receipt names it; live runs keep their prices. A file
        with errors changes nothing.
      </p>
      {view.reloaded ? <ReloadNote reloaded={view.reloaded} /> : null}
      {view.canReload ? (
        <ActionForm action="/api/portal/admin/reload" target="#models">
          <Button>Reload configuration</Button>
        </ActionForm>
      ) : null}
    </Pad>
  </Panel>
)

function ReloadNote({ reloaded }: { reloaded: ReloadResult }) {
  if ('problems' in reloaded) {
    return (
      <>
        <Notice tone="bad" title="The file has errors. Nothing was changed." />
        <ul class="affected">
          {reloaded.problems.map((problem) => (
            <li>{problem}</li>
          ))}
        </ul>
      </>
    )
  }
  const { changed, restart } = reloaded
  const later = restart.length === 0 ? '' : ` Needs a restart: ${restart.join(', ')}.`
  return (
    <Notice tone={restart.length === 0 ? 'ok' : 'warn'} title="Configuration reloaded.">
      {changed.length === 0 ? 'No changes.' : `Changed: ${changed.join(', ')}.`}
      {later}
    </Notice>
  )
}

const PerMillion = ({ pusd }: { pusd: bigint }) => <Amount nusd={perMillion(pusd)} />

/** Classes that model servers reported and that a model has no rate for. */
const UnpricedPanel = ({ of }: { of: readonly UnpricedUnits[] }) =>
  of.length === 0 ? null : (
    <Panel
      id="unpriced"
      title="Used without a rate"
      aside={<Badge tone="warn">Set a rate</Badge>}
      foot={<span>Counted by this process since it started.</span>}
    >
      <Pad>
        <p>
          Model servers reported units of these classes. Input classes were billed at the dearest
          input rate that was held for, output classes as output; searches were not billed.
        </p>
      </Pad>
      <Table caption="Units without a rate" columns={unpricedColumns} rows={of} />
    </Panel>
  )

/** Facts about model servers that their refusals taught. */
const LearnedPanel = ({ of, now }: { of: readonly LearnedFact[]; now: Millis }) =>
  of.length === 0 ? null : (
    <Panel
      id="learned"
      title="Learned about upstreams"
      foot={
        <span>
          Remembered for a day. Set it under <code>[upstreams.dialect]</code> to spare the first
          request.
        </span>
      }
    >
      <Table
        caption="What servers refuse"
        columns={[
          { head: 'Upstream', cell: ({ upstream }) => upstream },
          { head: 'Model', cell: ({ model }) => <code>{model}</code> },
          { head: 'Requests go', cell: ({ facts }) => facts },
          { head: 'Since', cell: ({ at }) => <When at={at} now={now} /> },
        ]}
        rows={of}
      />
    </Panel>
  )

const unpricedColumns: Column<UnpricedUnits>[] = [
  { head: 'Model', cell: ({ model }) => <code>{model}</code> },
  { head: 'Class', cell: ({ meter }) => meterWords(meter) },
  { head: 'Units', kind: 'number', cell: ({ units }) => units.toLocaleString('en-US') },
  { head: 'Setting', kind: 'optional', at: 'more', cell: ({ setting }) => <code>{setting}</code> },
]

/** Reports of model servers whose details cannot be true. */
const ContradictionPanel = ({ of }: { of: readonly Contradictions[] }) =>
  of.length === 0 ? null : (
    <Panel
      id="contradictions"
      title="Usage that contradicts itself"
      aside={<Badge tone="warn">Ask the provider</Badge>}
      foot={<span>Counted by this process since it started.</span>}
    >
      <Pad>
        <p>
          Model servers reported details that do not fit their totals. These runs were billed by the
          cheaper reading that covers what passed, and are marked counted.
        </p>
      </Pad>
      <Table caption="Contradictions" columns={contradictionColumns} rows={of} />
    </Panel>
  )

const contradictionColumns: Column<Contradictions>[] = [
  { head: 'Model', cell: ({ model }) => <code>{model}</code> },
  { head: 'Side', cell: ({ side }) => side },
  { head: 'Runs', kind: 'number', cell: ({ runs }) => runs.toLocaleString('en-US') },
]

/** The least that a model is sold above its cost, on any step whose cost is known, at any hour. */
export function markupText(model: Model): string {
  const [least] = modelsByHour(model)
    .flatMap(markupsOf)
    .sort((a, b) => Number(a - b))
  return least === undefined ? '–' : `${(Number(least) - 1000) / 10}%`
}

const markupsOf = (model: Model): bigint[] =>
  model.route.flatMap((step) => {
    const { cost } = step
    if (!cost) return []
    const prices = pricesAt(model, step)
    const output = model.kind === 'chat' ? [[prices.outputPusd, cost.outputPusd] as const] : []
    const pairs = [[prices.inputPusd, cost.inputPusd] as const, ...output]
    return pairs.filter(([, paid]) => paid > 0n).map(([sold, paid]) => (sold * 1000n) / paid)
  })

const modelColumns: Column<Model>[] = [
  {
    head: 'Model',
    cell: ({ id }) => (
      <span class="name">
        <a href={changePath('model', id)}>
          <code>{id}</code>
        </a>
      </span>
    ),
  },
  {
    head: 'State',
    kind: 'optional',
    at: 'act',
    cell: ({ status }) => <StatusBadge of={status} />,
  },
  {
    head: 'Input, 1M',
    kind: 'money',
    cell: (model) => <PerMillion pusd={dearestPrices(model).inputPusd} />,
  },
  {
    head: 'Output, 1M',
    kind: 'money',
    cell: (model) => <PerMillion pusd={dearestPrices(model).outputPusd} />,
  },
  { head: 'Markup', kind: 'optional-number', cell: (model) => markupText(model) },
  {
    head: 'Request',
    kind: 'spare-money',
    cell: (model) => <Amount nusd={dearestPrices(model).requestNusd} />,
  },
  {
    head: 'Route',
    kind: 'optional',
    cell: ({ route }) => (
      <code>{route.map(({ upstream, model }) => `${upstream}:${model}`).join(', ')}</code>
    ),
  },
]
