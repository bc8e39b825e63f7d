/** The public page of plans. */
import { Elysia } from 'elysia'
import { readerAccount } from '../../access/accounts/needs-session.ts'
import { signInPath } from '../../access/accounts/next-page.ts'
import { freeId, type Plan, type Plans } from '../../access/plan.ts'
import type { Deps } from '../../app/deps-port.ts'
import { Amount } from '../../web/ui/amount.tsx'
import { ButtonLink } from '../../web/ui/button.tsx'
import type { Frame } from '../../web/ui/frame.ts'
import { type Child, renderChild } from '../../web/ui/jsx-runtime.ts'
import { publicPage } from '../../web/ui/layout.tsx'
import { Facts, Pad, PageHead, Panel } from '../../web/ui/panel.tsx'
import { reply } from '../../web/ui/reply.ts'
import { type Column, Table } from '../../web/ui/table.tsx'
import { discountText, paysFrom, planModelsText, planPath, priceText } from './plan-words.ts'

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

const PlansPage = ({ plans, isSignedIn }: { plans: Plans; isSignedIn: boolean }) => {
  const { list } = plans
  const same = list.length > 1 ? rows.filter((row) => isSame(list, row)) : []
  const free = plans.find(freeId)?.name
  return (
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
            The lowest limit of a key, its plan and this server applies. Every account starts on
            {` ${free}`}.
          </span>
        }
      >
        <Table
          caption="Plans"
          columns={columnsOf(plans)}
          rows={rows.filter((row) => !same.includes(row))}
        />
      </Panel>
      <PaysOff list={list} />
      {same.length > 0 && list[0] ? (
        <Panel id="same" title="The same on every plan">
          <Pad>
            <Facts of={same.map(({ head, of }) => [head, of(list[0] as Plan)] as const)} />
          </Pad>
        </Panel>
      ) : null}
      <p class="quiet">
        A plan is paid from the balance; there is no card and no contract. If the balance does not
        cover it on the day, the account returns to {free}, and nothing is owed. Runs are charged by
        use: <a href="/models">models and their prices</a>.
      </p>
    </>
  )
}

const isSame = (list: readonly Plan[], { of }: Row): boolean =>
  new Set(list.map((plan) => renderChild(of(plan)))).size === 1

/** From which month on a dearer plan is the cheaper one; nothing where discounts never pay. */
function PaysOff({ list }: { list: readonly Plan[] }) {
  const pairs = list.slice(1).flatMap((plan, i) => {
    const cheaper = list[i]
    const from = cheaper && paysFrom(cheaper, plan)
    return cheaper && from !== undefined ? [{ plan, cheaper, from }] : []
  })
  if (pairs.length === 0) return null
  return (
    <Panel id="pays" title="Where they pay off">
      <ul class="choices pays bare">
        {pairs.map(({ plan, cheaper, from }) => (
          <li>
            <div>
              <strong>{plan.name}</strong> is cheaper than {cheaper.name} in total
              <small>
                {discountText(plan.discountBps)} off every run makes up for the price. Below that,
                it is worth its limits alone.
              </small>
            </div>
            <span>
              from <Amount nusd={from} /> of runs a month
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  )
}

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
  {
    head: 'Discount on every run',
    of: ({ discountBps, discounts }) =>
      discounts ? `${discountText(discountBps)}, some models differ` : discountText(discountBps),
  },
  { head: 'Requests per minute and key', of: ({ limits }) => count(limits.rpm) },
  { head: 'Concurrent runs per key', of: ({ limits }) => count(limits.concurrency) },
  { head: 'Active keys', of: ({ limits }) => count(limits.maxKeys) },
  { head: 'Key levels', of: ({ limits }) => count(limits.maxDepth + 1) },
  { head: 'History in lists, days', of: ({ limits }) => count(limits.historyDays) },
  { head: 'Models', of: planModelsText },
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
