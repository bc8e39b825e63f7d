/** The overview page: balance, spend, recent runs and keys. */
import type { ShownKey } from '../../../access/keys/shown-key.ts'
import { toUsd } from '../../../kernel/money.ts'
import { receiptIdOf } from '../../../proof/receipts/receipt.ts'
import {
  cost,
  figure,
  model,
  receiptPath,
  runPath,
  stateBy,
  when,
} from '../../../runs/portal/run-state.tsx'
import type { ReceiptStateOf } from '../../../runs/receipt-state.ts'
import { isInFlight, type ShownRun } from '../../../runs/shown-run.ts'
import type { AccountRow } from '../../../storage/db/schema/schema.ts'
import { Amount, amountText, shortAmountText } from '../../../web/ui/amount.tsx'
import { ButtonLink } from '../../../web/ui/button.tsx'
import { BarChart } from '../../../web/ui/chart.tsx'
import { dollarTick } from '../../../web/ui/chart-frame.tsx'
import { Empty } from '../../../web/ui/empty.tsx'
import { IdLink } from '../../../web/ui/hash.tsx'
import { Facts, PageHead, Panel, Split } from '../../../web/ui/panel.tsx'
import { Live } from '../../../web/ui/status.tsx'
import { type Column, Table } from '../../../web/ui/table.tsx'
import { dateWords } from '../../../web/ui/when.tsx'
import type { Alert } from '../alerts.ts'
import { type Onboarding, stepsDone } from '../onboarding.ts'
import type { BalanceForecast, Spend } from '../spend.ts'
import { Alerts } from './alerts.tsx'
import { KeysSummary } from './keys.tsx'
import { Start } from './start.tsx'

/** The part of the overview that updates live. */
export type LiveView = {
  account: AccountRow
  now: number
  recent: readonly ShownRun[]
  receiptStateOf: ReceiptStateOf
  /** Undefined once complete. */
  onboarding: Onboarding | undefined
  /** Whether accounts can deposit; otherwise the operator grants credit. */
  takesDeposits: boolean
}

export type OverviewView = LiveView & {
  spend: Spend
  lasting: BalanceForecast | undefined
  alerts: readonly Alert[]
  keys: readonly ShownKey[]
  /** Identifies the state of the live part. */
  mark: string
}

export function Overview({ view }: { view: OverviewView }) {
  const { account, onboarding, alerts, keys, now } = view
  const recent = <RecentRuns view={view} />
  return (
    <>
      <PageHead title="Overview">
        <div class="row">
          <ButtonLink href="/dashboard/console" icon="console">
            Open console
          </ButtonLink>
          <ButtonLink href="/dashboard/keys/new" look="go" icon="plus">
            New key
          </ButtonLink>
        </div>
      </PageHead>
      <Alerts of={alerts} now={now} takesDeposits={view.takesDeposits} />
      <section class="sheet purse" aria-label="Money">
        <Purse view={view} />
        <SpendChart spend={view.spend} />
      </section>
      {onboarding ? (
        <Split>
          {recent}
          <Start of={onboarding} takesDeposits={view.takesDeposits} />
        </Split>
      ) : (
        recent
      )}
      <KeysSummary account={account.id} keys={keys} now={now} />
    </>
  )
}

const Purse = ({ view: { account, lasting, takesDeposits } }: { view: OverviewView }) => (
  <div class="sum">
    <h2>Balance</h2>
    <div id="balance">
      <Amount nusd={account.balance} />
    </div>
    <Facts
      of={[
        [
          'Held by runs now',
          <span id="held">
            <Amount nusd={account.held} />
          </span>,
        ],
        [
          'Lasts about',
          lasting ? `${daysText(lasting.days)} at ${roundText(lasting.perDay)} a day` : '–',
        ],
      ]}
    />
    <div class="row">
      {takesDeposits ? (
        <ButtonLink look="go" icon="deposits" href="/dashboard/deposits">
          Deposit
        </ButtonLink>
      ) : null}
      <ButtonLink href="/dashboard/usage">Export usage</ButtonLink>
    </div>
    {account.balance === 0n && !takesDeposits ? (
      <p class="quiet">
        <small>The operator of this server grants credit.</small>
      </p>
    ) : null}
  </div>
)

const daysText = (days: number): string => {
  if (days > 999) return 'years'
  return days === 1 ? '1 day' : `${days.toLocaleString('en-US')} days`
}

/** Rounded to the cent, or to three significant digits below one cent. */
function roundText(nusd: bigint): string {
  const cent = 10_000_000n
  if (nusd >= cent) return amountText(((nusd + cent / 2n) / cent) * cent)
  const unit = 10n ** BigInt(Math.max(0, String(nusd).length - 3))
  return amountText((nusd / unit) * unit)
}

function SpendChart({ spend: { days, total } }: { spend: Spend }) {
  const top = days.reduce((most, day) => (day.cost > most.cost ? day : most))
  const today = amountText(days.at(-1)?.cost ?? 0n)
  const highest =
    top.cost === 0n ? 'No spend.' : `Highest ${shortAmountText(top.cost)} on ${labelOf(top.day)}.`
  return (
    <div class="stack">
      <div class="row apart">
        <h2>Spend per day</h2>
        <small class="quiet">
          {days.length} days: <data value={toUsd(total)}>{roundText(total)}</data>
        </small>
      </div>
      <BarChart
        id="spend"
        finding={`Spend per day, last ${days.length} days. ${highest} Today so far ${today}.`}
        points={days.map(({ day, cost }, i) => ({
          label: i === days.length - 1 ? 'Today' : labelOf(day),
          value: Number(cost) / 1e9,
          words: amountText(cost),
          open: i === days.length - 1,
          href: runsOf(day),
        }))}
        head={['Day', 'Spend']}
        tick={dollarTick}
      />
    </div>
  )
}

/** The runs of a day. */
function runsOf(day: number): string {
  const date = new Date(day).toISOString().slice(0, 10)
  return `/dashboard/runs?${new URLSearchParams({ from: date, to: date })}`
}

const labelOf = dateWords({ timeZone: 'UTC', month: 'short', day: 'numeric' })

const RecentRuns = ({ view }: { view: OverviewView }) => (
  <Panel
    id="recent"
    title="Recent runs"
    aside={
      <span
        hx-sse:connect={`/api/portal/overview/live?mark=${encodeURIComponent(view.mark)}`}
        hx-target="#recent-runs"
        hx-swap="innerMorph"
      >
        <Live />
      </span>
    }
    foot={
      view.recent.length === 0 ? null : (
        <>
          <span>
            {view.spend.runs.toLocaleString('en-US')} in {view.spend.days.length} days
          </span>
          <a href="/dashboard/runs">All runs</a>
        </>
      )
    }
  >
    <div id="recent-runs">
      <RecentRows view={view} />
    </div>
  </Panel>
)

const RecentRows = ({ view: { account, recent, receiptStateOf, now } }: { view: LiveView }) =>
  recent.length === 0 ? (
    <Empty hash={account.id} title="No runs yet">
      Runs appear here as soon as one of your keys makes them.
    </Empty>
  ) : (
    <Table
      caption="Recent runs"
      columns={[figure, receipt, model, cost, stateBy(receiptStateOf), when(now)]}
      rows={recent}
      rowId={({ run }) => run.id}
    />
  )

/** Links the receipt, or the run while it is in flight. */
const receipt: Column<ShownRun> = {
  head: 'Receipt',
  at: 'what',
  cell: ({ run }) =>
    isInFlight(run) ? (
      <IdLink value={run.id} href={runPath(run.id)} />
    ) : (
      <IdLink value={receiptIdOf(run.id)} href={receiptPath(run.id)} />
    ),
}

/** One live message: the newest runs and everything that a run changes. */
export const LiveMessage = ({ view }: { view: LiveView }) => (
  <>
    <RecentRows view={view} />
    <hx-partial hx-target="#balance" hx-swap="innerHTML">
      <Amount nusd={view.account.balance} />
    </hx-partial>
    <hx-partial hx-target="#held" hx-swap="innerHTML">
      <Amount nusd={view.account.held} />
    </hx-partial>
    {view.onboarding ? (
      <hx-partial hx-target="#start" hx-swap="outerHTML">
        <Start of={view.onboarding} takesDeposits={view.takesDeposits} />
      </hx-partial>
    ) : null}
  </>
)

export const stepsMark = ({ onboarding }: Pick<LiveView, 'onboarding'>): string =>
  onboarding ? String(stepsDone(onboarding)) : ''
