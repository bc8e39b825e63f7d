import { Amount, amountText } from '../../../src/web/ui/amount.tsx'
import { ButtonLink } from '../../../src/web/ui/button.tsx'
import { BarChart, LineChart } from '../../../src/web/ui/chart.tsx'
import { Notice } from '../../../src/web/ui/notice.tsx'
import { Facts, Pad, PageHead, Panel, Split } from '../../../src/web/ui/panel.tsx'
import { Live } from '../../../src/web/ui/status.tsx'
import { Steps } from '../../../src/web/ui/steps.tsx'
import { Pager, Table } from '../../../src/web/ui/table.tsx'
import { keyColumns, keys, runColumns, runs } from './samples.tsx'

const dollars = [1.2, 1.9, 1.4, 0.5, 0.3, 2.2, 2.6, 2.1, 2.9, 1.6, 0.7, 0.4, 3.1, 2.4, 2.8]
const spend = [
  ...dollars,
  3.3,
  2.0,
  0.6,
  0.5,
  2.7,
  3.6,
  3.2,
  4.1,
  2.9,
  1.1,
  0.9,
  3.8,
  4.4,
  3.9,
  1.7,
]
const points = spend.map((value, i) => ({
  label: i === 29 ? 'Today' : i < 9 ? `Oct ${23 + i}` : `Nov ${i - 8}`,
  value,
  words: amountText(BigInt(Math.round(value * 100)) * 10_000_000n),
  open: i === 29,
}))

export const Overview = () => (
  <>
    <PageHead title="Overview">
      <div class="row">
        <ButtonLink href="/console" icon="console">
          Open console
        </ButtonLink>
        <ButtonLink href="/keys" look="go" icon="plus">
          New key
        </ButtonLink>
      </div>
    </PageHead>
    <Notice
      tone="warn"
      title="crawler-01 has $0.69 left under its cap."
      action={
        <ButtonLink href="/keys" small>
          Raise cap
        </ButtonLink>
      }
    >
      At today’s pace it stops in about 40 minutes.
    </Notice>
    <section class="sec purse">
      <div class="sum">
        <h2>Balance</h2>
        <Amount nusd={48_217_904_038n} />
        <Facts
          of={[
            ['Held by runs now', <Amount nusd={34_100_000n} />],
            ['Lasts about', '14 days at $3.40 a day'],
          ]}
        />
        <div class="row">
          <ButtonLink href="/deposits" look="go" icon="deposits">
            Deposit
          </ButtonLink>
          <ButtonLink href="/usage">Export usage</ButtonLink>
        </div>
      </div>
      <div class="stack">
        <div class="row apart">
          <h2>Spend per day</h2>
          <small class="quiet">
            30 days: <Amount nusd={63_800_000_000n} />
          </small>
        </div>
        <BarChart
          id="spend"
          finding="Spend per day, last 30 days. Highest $4.40 on Nov 19. Today so far $1.70."
          points={points}
          head={['Day', 'Spend']}
          tick={(value) => `$${value}`}
        />
      </div>
    </section>
    <Split>
      <Panel
        id="runs"
        title="Recent runs"
        aside={<Live />}
        foot={<Pager older="/runs">Showing 5 of 1,284</Pager>}
      >
        <Table caption="Recent runs" columns={runColumns} rows={runs} bodyId="run-rows" />
      </Panel>
      <Panel
        id="start"
        title="Get your first receipt"
        aside={<small class="quiet">3 of 5 done</small>}
      >
        <Steps
          of={[
            { label: 'Connect a wallet', done: true },
            { label: 'Deposit or claim test credit', done: true },
            { label: 'Create a capped key', done: true },
            {
              label: 'Make a run with the key',
              done: false,
              action: (
                <ButtonLink href="/console" look="go" small>
                  Run one
                </ButtonLink>
              ),
            },
            {
              label: 'Verify its receipt in your browser',
              done: false,
              action: (
                <ButtonLink href="/receipt" small>
                  Open
                </ButtonLink>
              ),
            },
          ]}
        />
      </Panel>
    </Split>
    <Panel
      id="keys"
      title="Keys"
      aside={
        <ButtonLink href="/keys" small>
          Manage keys
        </ButtonLink>
      }
    >
      <Table caption="Keys" columns={keyColumns} rows={keys} />
    </Panel>
    <Panel id="trend" title="Tokens a minute">
      <Pad>
        <LineChart
          id="tokens"
          finding="Tokens a minute over the last half hour, rising."
          points={points}
          head={['Minute', 'Tokens']}
          tick={(value) => `${value}k`}
        />
      </Pad>
    </Panel>
  </>
)
