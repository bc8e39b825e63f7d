/** The overview page: balance, spend, recent runs and keys. */
import type { ShownKey } from '../../../access/keys/shown-key.ts'
import { toUsd } from '../../../kernel/money.ts'
import { dayAway, type ZoneName } from '../../../kernel/zone.ts'
import {
  cost,
  figure,
  keyName,
  modelTo,
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
import { Figure, PageHead, Panel, Split } from '../../../web/ui/panel.tsx'
import { runsHref } from '../../../web/ui/runs-href.ts'
import { Spark } from '../../../web/ui/spark.tsx'
import { Live } from '../../../web/ui/status.tsx'
import { Table } from '../../../web/ui/table.tsx'
import { dayText } from '../../../web/ui/when.tsx'
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
  zone: ZoneName
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
      <Alerts of={alerts} now={now} takesDeposits={view.takesDeposits} />
      <PageHead title="Overview">
        <div class="row">
          <ButtonLink href="/dashboard/console" icon="console">
            Open console
          </ButtonLink>
          <ButtonLink href="/dashboard/keys/new" icon="plus">
            New key
          </ButtonLink>
          {view.takesDeposits ? (
            <ButtonLink look="go" icon="deposits" href="/dashboard/deposits">
              Deposit
            </ButtonLink>
          ) : null}
        </div>
      </PageHead>
      <Balance view={view} />
      <Split>
        {recent}
        <div class="stack wide">
          {onboarding ? <Start of={onboarding} takesDeposits={view.takesDeposits} /> : null}
          <KeysSummary account={account.id} keys={keys} now={now} />
        </div>
      </Split>
      <SpendChart spend={view.spend} zone={view.zone} />
    </>
  )
}

const Balance = ({ view }: { view: OverviewView }) => {
  const { account, lasting, takesDeposits, spend } = view
  return (
    <Figure
      label="Balance"
      big={
        <span id="balance">
          <BalanceAmount nusd={account.balance} />
        </span>
      }
      beside={
        <Spark
          title={`Spend per day, last ${spend.days.length} days.`}
          values={spend.days.map(({ cost }) => Number(cost) / 1e9)}
        />
      }
    >
      <p>
        <span id="held">
          <HeldAmount nusd={account.held} />
        </span>{' '}
        held by runs now
        {lasting ? (
          <>
            {' · '}lasts <b>{lastsText(lasting.days)}</b> at {roundText(lasting.perDay)} a day
          </>
        ) : null}
      </p>
      {account.balance === 0n && !takesDeposits ? (
        <p>The operator of this server grants credit.</p>
      ) : null}
    </Figure>
  )
}

/** A balance is rounded down. */
const BalanceAmount = ({ nusd }: { nusd: bigint }) => <Amount nusd={nusd} as="sum" round="down" />
const HeldAmount = ({ nusd }: { nusd: bigint }) => <Amount nusd={nusd} as="list" round="up" />

/** The most days that are counted; the pace is not known for longer. */
const countedDaysMax = 90

function lastsText(days: number): string {
  if (days > countedDaysMax) return 'more than 3 months'
  return days === 1 ? 'about 1 day' : `about ${days} days`
}

/** Rounded to the cent, or to three significant digits below one cent. */
function roundText(nusd: bigint): string {
  const cent = 10_000_000n
  if (nusd >= cent) return amountText(((nusd + cent / 2n) / cent) * cent)
  const unit = 10n ** BigInt(Math.max(0, String(nusd).length - 3))
  return amountText((nusd / unit) * unit)
}

type ChartProps = { spend: Spend; zone: ZoneName }

function SpendChart({ spend: { days, total }, zone }: ChartProps) {
  const labelOf = (day: number) => dayText(day, zone)
  const top = days.reduce((most, day) => (day.cost > most.cost ? day : most))
  const today = amountText(days.at(-1)?.cost ?? 0n)
  const highest =
    top.cost === 0n ? 'No spend.' : `Highest ${shortAmountText(top.cost)} on ${labelOf(top.day)}.`
  return (
    <Panel
      id="spend-per-day"
      title="Spend per day"
      aside={
        <small>
          {days.length} days in {zone}: <data value={toUsd(total)}>{roundText(total)}</data>
        </small>
      }
    >
      <BarChart
        id="spend"
        finding={`Spend per day, last ${days.length} days. ${highest} Today so far ${today}.`}
        points={days.map(({ day, cost }, i) => ({
          label: i === days.length - 1 ? 'Today' : labelOf(day),
          value: Number(cost) / 1e9,
          words: amountText(cost),
          open: i === days.length - 1,
          href: runsHref({ from: day, to: dayAway(zone, day, 1), zone }),
        }))}
        head={['Day', 'Spend']}
        tick={dollarTick}
      />
    </Panel>
  )
}

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
        <Live>
          <a href="/dashboard/runs">
            {view.spend.runs.toLocaleString('en-US')} in {view.spend.days.length} days
          </a>
        </Live>
      </span>
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
      columns={[figure, modelTo(hrefOf), keyName, cost, stateBy(receiptStateOf), when(now)]}
      rows={recent}
      fold="late"
      rowId={({ run }) => run.id}
    />
  )

/** The receipt, or the run while it is in flight. */
const hrefOf = (run: ShownRun['run']): string =>
  isInFlight(run) ? runPath(run.id) : receiptPath(run.id)

/** One live message: the newest runs and everything that a run changes. */
export const LiveMessage = ({ view }: { view: LiveView }) => (
  <>
    <RecentRows view={view} />
    <hx-partial hx-target="#balance" hx-swap="innerHTML">
      <BalanceAmount nusd={view.account.balance} />
    </hx-partial>
    <hx-partial hx-target="#held" hx-swap="innerHTML">
      <HeldAmount nusd={view.account.held} />
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
