/** `GET /models`: the models, their prices, and the price version that receipts name. */
import { Elysia } from 'elysia'
import { readerAccount } from '../../../access/accounts/needs-session.ts'
import type { Deps } from '../../../app/deps-port.ts'
import type { Catalogue } from '../../../models/catalogue.ts'
import { hoursText } from '../../../models/hours.ts'
import type { Model } from '../../../models/model.ts'
import { hasMoreRates, RatesPanel, rateId } from '../../../models/pages/rate-list.tsx'
import { perMillion } from '../../../models/pages/shown-rates.ts'
import { StatusBadge } from '../../../models/pages/status-badge.tsx'
import { dearestPrices } from '../../../models/step-prices.ts'
import { Amount } from '../../../web/ui/amount.tsx'
import type { Frame } from '../../../web/ui/frame.ts'
import { Whole } from '../../../web/ui/hash.tsx'
import { publicPage } from '../../../web/ui/layout.tsx'
import { Facts, Pad, PageHead, Panel, Split } from '../../../web/ui/panel.tsx'
import { reply } from '../../../web/ui/reply.ts'
import { type Column, Table } from '../../../web/ui/table.tsx'

export const modelPages = (deps: Deps, frame: Frame) =>
  new Elysia({ name: 'model-pages' }).get('/models', async ({ request, set }) => {
    const { catalogue } = deps
    const leaf = await leafOf(deps)
    const page = publicPage({
      frame,
      title: 'Models',
      description:
        'The models of this service with their prices per million tokens, their context size, ' +
        'and which runs can be repeated.',
      here: '/models',
      main: <ModelsPage catalogue={catalogue} leaf={leaf} />,
      ...(await readerAccount(deps, request)),
    })
    return reply({ request, set }, { page })
  })

/** The price list's index in the current log; undefined if it is in another log, or in none. */
async function leafOf({ catalogue, site, logs }: Deps): Promise<number | undefined> {
  const place = await site.placeOfPrices(catalogue.priceList)
  return place === undefined || place < logs.current.start ? undefined : place - logs.current.start
}

const ModelsPage = ({ catalogue, leaf }: { catalogue: Catalogue; leaf: number | undefined }) => (
  <>
    <PageHead title="Models">
      <p class="quiet">
        For programs: <a href="/v1/models">/v1/models</a>
      </p>
    </PageHead>
    <Panel
      id="models"
      title="Prices per million tokens"
      aside={<small class="quiet">In US dollars, before a plan's discount.</small>}
    >
      <Table caption="Models" columns={columnsFor(catalogue.list())} rows={catalogue.list()} />
    </Panel>
    <RatesPanel models={catalogue.list()} />
    <Split>
      <PriceList catalogue={catalogue} leaf={leaf} />
      <Meaning />
    </Split>
  </>
)

/** What reading from a cache costs has a column where any model has a rate for it. */
function columnsFor(models: readonly Model[]): Column<Model>[] {
  const hasCache = models.some((model) => cacheRateOf(model) !== undefined)
  return columns.flatMap((column) => (column === input && hasCache ? [input, cached] : [column]))
}

const cacheRateOf = (model: Model) => dearestPrices(model).card?.classes.cache_read

const input: Column<Model> = {
  head: 'Input',
  kind: 'money',
  cell: (model) => <PerMillion pusd={dearestPrices(model).inputPusd} />,
}

const cached: Column<Model> = {
  head: 'Cached input',
  kind: 'optional-money',
  cell: (model) => {
    const rate = cacheRateOf(model)
    return rate === undefined ? <None /> : <PerMillion pusd={rate} />
  },
}

const columns: readonly Column<Model>[] = [
  {
    head: 'Model',
    cell: (model) => (
      <span class="name">
        <strong>{model.id}</strong>
        {model.name === model.id ? null : <small class="quiet">{model.name}</small>}
        <small class="quiet alt">{inWords(model)}</small>
        {model.hours?.windows.map(({ of }) => (
          <small class="quiet">Other prices from {hoursText(of)}</small>
        ))}
        {hasMoreRates(model) ? (
          <small>
            <a href={`#${rateId(model)}`}>All rates</a>
          </small>
        ) : null}
      </span>
    ),
  },
  input,
  {
    head: 'Output',
    kind: 'money',
    cell: (model) =>
      model.kind === 'chat' ? <PerMillion pusd={dearestPrices(model).outputPusd} /> : <None />,
  },
  {
    head: 'Per run',
    kind: 'optional-money',
    at: 'more',
    cell: (model) => {
      const { requestNusd } = dearestPrices(model)
      return requestNusd === 0n ? <None /> : <Amount nusd={requestNusd} />
    },
  },
  { head: 'Kind', kind: 'optional', cell: ({ kind }) => capitalised(kind) },
  {
    head: 'Context',
    kind: 'optional-number',
    cell: ({ contextTokens }) => <Count value={contextTokens} />,
  },
  {
    head: 'Longest output',
    kind: 'optional-number',
    cell: ({ maxOutputTokens }) =>
      maxOutputTokens === 0 ? <None /> : <Count value={maxOutputTokens} />,
  },
  {
    head: 'Features',
    kind: 'spare',
    cell: ({ features }) => (features.length === 0 ? <None /> : capitalised(features.join(', '))),
  },
  {
    head: 'Repeatable',
    kind: 'optional',
    cell: ({ verifiable }) => (verifiable === 're-executable' ? 'Yes' : 'No'),
  },
  {
    head: 'State',
    at: 'state',
    cell: ({ status }) => <StatusBadge of={status} />,
  },
]

/** The columns that a phone has no room for, as text. */
const inWords = ({ kind, contextTokens, features, verifiable }: Model): string =>
  [
    capitalised(kind),
    `${contextTokens.toLocaleString('en-US')} tokens of context`,
    ...features,
    ...(verifiable === 're-executable' ? ['repeatable'] : []),
  ].join(', ')

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

const PerMillion = ({ pusd }: { pusd: bigint }) => <Amount nusd={perMillion(pusd)} />

const Count = ({ value }: { value: number }) => (
  <data value={String(value)}>{value.toLocaleString('en-US')}</data>
)

const None = () => <span class="quiet">–</span>

type PriceListProps = { catalogue: Catalogue; leaf: number | undefined }

const PriceList = ({ catalogue: { priceList }, leaf }: PriceListProps) => (
  <Panel id="price-list" title="Price list">
    <Pad>
      <p>
        The price list has a version, and every receipt names the version it was charged by. Each
        version is a leaf of the public log, so prices cannot be changed afterwards.
      </p>
      <Facts
        of={[
          [
            'Version',
            <code>
              {priceList.id}@{priceList.version}
            </code>,
          ],
          [
            'SHA-256',
            <code>
              <Whole value={priceList.digest} />
            </code>,
          ],
          [
            'In the log',
            leaf === undefined ? (
              'With the first receipt'
            ) : (
              <a href="/status#log">Leaf {leaf.toLocaleString('en-US')}</a>
            ),
          ],
        ]}
      />
    </Pad>
  </Panel>
)

const Meaning = () => (
  <Panel id="repeat" title="What “repeatable” means">
    <Pad>
      <p>
        A repeatable model always gives the same output for the same input. Anyone who has both can
        run it again and compare, because the receipt commits to both.
      </p>
      <p class="quiet">
        For any other model, a receipt proves the charge and who signed it, not which model wrote
        the text.
      </p>
    </Pad>
  </Panel>
)
