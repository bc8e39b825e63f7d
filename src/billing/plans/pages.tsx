/** The public page of plans. */
import { Elysia } from 'elysia'
import { readerAccount } from '../../access/accounts/needs-session.ts'
import { signInPath } from '../../access/accounts/next-page.ts'
import { freeId, type Plan, type Plans } from '../../access/plan.ts'
import type { Deps } from '../../app/deps-port.ts'
import { Amount } from '../../web/ui/amount.tsx'
import { ButtonLink } from '../../web/ui/button.tsx'
import type { Frame } from '../../web/ui/frame.ts'
import type { Child } from '../../web/ui/jsx-runtime.ts'
import { publicPage } from '../../web/ui/layout.tsx'
import { PageHead, Panel } from '../../web/ui/panel.tsx'
import { reply } from '../../web/ui/reply.ts'
import { type Column, Table } from '../../web/ui/table.tsx'
import { discountText, planPath, priceText } from './plan-words.ts'

/** `GET /plans`: every plan, without sign-in. */
export const planPages = (deps: Deps, frame: Frame) =>
  new Elysia({ name: 'plan-pages' }).get('/plans', async ({ request, set }) => {
    const reader = await readerAccount(deps, request)
    const page = publicPage({
      frame,
      title: 'Plans',
      description:
        'The plans of this service: what each costs a month, its discount on every run, and ' +
        'the limits of its keys.',
      here: '/plans',
      main: <PlansPage plans={deps.plans} isSignedIn={'account' in reader} />,
      ...reader,
    })
    return reply({ request, set }, { page })
  })

const PlansPage = ({ plans, isSignedIn }: { plans: Plans; isSignedIn: boolean }) => (
  <>
    <PageHead title="Plans">
      {isSignedIn ? (
        <ButtonLink look="go" href={planPath}>
          Your plan
        </ButtonLink>
      ) : (
        <ButtonLink look="go" href={signInPath(planPath)}>
          Connect a wallet to choose
        </ButtonLink>
      )}
    </PageHead>
    <Panel
      id="plans"
      title="Compare plans"
      foot={
        <span>
          The lowest limit of a key, its plan and this server applies. Every account starts on{' '}
          {plans.find(freeId)?.name}.
        </span>
      }
    >
      <Table caption="Plans" columns={columnsOf(plans)} rows={rows} />
    </Panel>
    <p class="quiet">
      A plan is paid from the balance; there is no card and no contract. If the balance does not
      cover it on the day, the account returns to {plans.find(freeId)?.name}, and nothing is owed.
      Runs are charged by use: <a href="/models">models and their prices</a>.
    </p>
  </>
)

type Row = { head: string; of: (plan: Plan) => Child }

const rows: readonly Row[] = [
  {
    head: 'Price',
    of: (plan) => (
      <span class="price">
        <Amount nusd={plan.price} />
        {plan.price === 0n ? null : <small class="quiet">{priceText(plan)}</small>}
      </span>
    ),
  },
  { head: 'Discount on every run', of: ({ discountBps }) => discountText(discountBps) },
  { head: 'Requests per minute and key', of: ({ limits }) => count(limits.rpm) },
  { head: 'Concurrent runs per key', of: ({ limits }) => count(limits.concurrency) },
  { head: 'Active keys', of: ({ limits }) => count(limits.maxKeys) },
  { head: 'Key levels', of: ({ limits }) => count(limits.maxDepth + 1) },
  { head: 'History in lists, days', of: ({ limits }) => count(limits.historyDays) },
  { head: 'Models', of: ({ models }) => (models.length === 0 ? 'All' : models.join(', ')) },
]

const columnsOf = ({ list }: Plans): Column<Row>[] => [
  { head: 'What', kind: 'unnamed', cell: ({ head }) => <span class="name">{head}</span> },
  ...list.map(
    (plan): Column<Row> => ({
      head: plan.name,
      kind: 'number',
      cell: ({ of }) => of(plan),
    }),
  ),
]

const count = (value: number): string => value.toLocaleString('en-US')
