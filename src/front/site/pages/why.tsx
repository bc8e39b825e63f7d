/** The landing page's reasons, its diagram of a run, and the models with their prices. */
import type { Model } from '../../../models/model.ts'
import { priceText } from '../../../models/pages/shown-rates.ts'
import { Icon, type IconName } from '../../../web/ui/icon.tsx'
import { Panel } from '../../../web/ui/panel.tsx'
import { type Column, Table } from '../../../web/ui/table.tsx'
import type { LandingView } from './landing-view.ts'

export const Why = ({ view }: { view: LandingView }) => (
  <section class="stack" aria-labelledby="why-title">
    <h2 id="why-title">Why a gateway that leaves receipts</h2>
    <div class="pair">
      <section class="sec">
        <h3>
          <Icon name="warn" /> An agent overspent
        </h3>
        <p>
          A loop ran all night, and the bill came at the end of the month. Here the most that a run
          can cost is set aside before the model is called. If its key, a key above it or the
          balance does not cover that, the answer is 402 and nothing was spent.
        </p>
      </section>
      <section class="sec">
        <h3>
          <Icon name="search" /> A bill without evidence
        </h3>
        <p>
          A provider names a sum, and you believe it. Here every run has a signed receipt with its
          tokens, prices and total, and a place in a log that cannot be rewritten unnoticed
          {view.isAnchored ? ', because its root is on chain 4663' : ''}. You check it without us.
        </p>
      </section>
    </div>
    <ol class="flow bare" aria-label="What happens in a run">
      {steps.map(({ icon, title, words, filled, held }) => (
        <li>
          <Icon name={icon} />
          <h3>{title}</h3>
          <svg class="flowbar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
            <rect class="room" width={String(held)} height="8" />
            <rect class="spent" width={String(filled)} height="8" />
          </svg>
          <p>{words(view)}</p>
        </li>
      ))}
    </ol>
  </section>
)

type Step = {
  icon: IconName
  title: string
  words: (view: LandingView) => string
  /** Parts of a hundred of what the run can cost: set aside, and spent. */
  held: number
  filled: number
}

const steps: readonly Step[] = [
  {
    icon: 'deposits',
    title: 'Hold',
    words: () => 'The most it can cost is set aside from the balance and every cap.',
    held: 100,
    filled: 0,
  },
  {
    icon: 'runs',
    title: 'Run',
    words: () => 'The model answers, and its tokens are counted as they pass.',
    held: 100,
    filled: 24,
  },
  {
    icon: 'ok',
    title: 'Charge',
    words: () => 'Quantity times price, never above the hold. The rest is free again.',
    held: 42,
    filled: 42,
  },
  {
    icon: 'receipts',
    title: 'Sign',
    words: () => 'The receipt is stored and signed; the answer names it.',
    held: 42,
    filled: 42,
  },
  {
    icon: 'anchor',
    title: 'Prove',
    words: ({ isAnchored }) =>
      isAnchored
        ? 'The log’s root goes to chain 4663. You check all of it yourself.'
        : 'The log’s root is signed. You check all of it yourself.',
    held: 42,
    filled: 42,
  },
]

/** The first live models, and the way to all of them. */
export const ModelPrices = ({ models }: { models: readonly Model[] }) =>
  models.length === 0 ? null : (
    <Panel
      id="prices"
      title="Models and what they cost"
      aside={<a href="/models">All models and prices</a>}
    >
      <Table caption="Models and prices" columns={columns} rows={models.slice(0, shownMax)} />
    </Panel>
  )

const shownMax = 6

const columns: readonly Column<Model>[] = [
  { head: 'Model', cell: ({ id }) => <strong>{id}</strong> },
  {
    head: 'Kind',
    kind: 'optional',
    at: 'who',
    cell: ({ kind }) => (kind === 'chat' ? 'Chat' : 'Embedding'),
  },
  {
    head: 'Context',
    kind: 'optional-number',
    cell: ({ contextTokens }) => contextTokens.toLocaleString('en-US'),
  },
  { head: 'Price', at: 'cost', cell: (model) => priceText(model, 'per 1M tokens') },
]
