/** The panel that shows what a change of plan costs before its button. */
import { freeId, type Plan } from '../../../access/plan.ts'
import { toRfc3339 } from '../../../kernel/clock.ts'
import { Amount, amountText } from '../../../web/ui/amount.tsx'
import { Button, ButtonLink } from '../../../web/ui/button.tsx'
import { Confirm } from '../../../web/ui/confirm.tsx'
import { ActionForm } from '../../../web/ui/form.tsx'
import { ErrorNote } from '../../../web/ui/notice.tsx'
import { Facts, Pad, Panel } from '../../../web/ui/panel.tsx'
import { Table } from '../../../web/ui/table.tsx'
import { dateText } from '../../../web/ui/when.tsx'
import { depositsPath } from '../../deposits/portal/deposit-history.tsx'
import { differences, planPath, priceText } from '../plan-words.ts'
import type { Quote } from '../quote.ts'
import type { PlanView } from './plan-page-view.ts'

/** The effects and the price of a change of plan, before its button. */
export const PreviewPanel = ({ view, quote }: { view: PlanView; quote: Quote }) => {
  const { plan } = quote
  if (quote.change === 'cancel') return <CancelPanel view={view} />
  return (
    <Panel
      id="preview"
      needs="plans:write"
      title={quote.change === 'keep' ? `Keep ${plan.name}?` : `${view.plan.name} → ${plan.name}`}
    >
      <Pad>
        <p>{sentenceOf(view, quote)}</p>
        {quote.change === 'now' ? <Cost view={view} quote={quote} /> : null}
      </Pad>
      <Changes from={view.plan} to={plan} />
      <Pad>
        <Decide view={view} quote={quote} />
      </Pad>
    </Panel>
  )
}

function sentenceOf({ plan: present }: PlanView, { change, plan, startsAt, paidUntil }: Quote) {
  if (change === 'keep') return `${plan.name} is your plan. It continues unchanged.`
  if (change === 'later') {
    return (
      `${plan.name} starts on ${dateText(startsAt)}, when ${present.name} is paid up. ` +
      `Nothing is charged now; ${amountText(plan.price)} ${priceText(plan)} from then on.`
    )
  }
  const after = paidUntil === null ? '' : ` and renews on ${dateText(paidUntil)}`
  return `${plan.name} starts now${after}. Runs in flight keep their price.`
}

/** The bill: the price, what is left of the present plan, and what comes off the balance. */
const Cost = ({ view, quote }: { view: PlanView; quote: Quote }) => {
  const { account, plan: present } = view
  const available = account.balance - account.held
  return (
    <Facts
      of={[
        [`${quote.plan.name}, ${priceText(quote.plan)}`, <Amount nusd={quote.plan.price} />],
        ...(quote.credit > 0n
          ? [[`Unused part of ${present.name}`, <Amount nusd={-quote.credit} />] as const]
          : []),
        [<strong>You pay now</strong>, <Amount nusd={quote.charge} />],
        ['Available', <Amount nusd={available} />],
        ...(available >= quote.charge
          ? [['Available afterwards', <Amount nusd={available - quote.charge} />] as const]
          : []),
      ]}
    />
  )
}

type Line = ReturnType<typeof differences>[number]

const Changes = ({ from, to }: { from: Plan; to: Plan }) => {
  const lines = differences(from, to)
  if (lines.length === 0) return null
  return (
    <Table
      caption={`What ${to.name} changes`}
      columns={[
        { head: 'What changes', cell: ([what]: Line) => what },
        { head: from.name, kind: 'number', cell: ([, before]: Line) => before },
        { head: to.name, kind: 'number', cell: ([, , after]: Line) => <strong>{after}</strong> },
      ]}
      rows={lines}
    />
  )
}

const Decide = ({ view, quote }: { view: PlanView; quote: Quote }) => {
  const { plan, charge, change, startsAt } = quote
  const missing = charge - (view.account.balance - view.account.held)
  if (missing > 0n) {
    return (
      <ErrorNote
        what={`The balance is ${amountText(missing)} short.`}
        charged="Nothing was charged."
        retry={<ButtonLink href={depositsPath}>Add money</ButtonLink>}
      />
    )
  }
  const button =
    change === 'keep'
      ? `Keep ${plan.name}`
      : change === 'later'
        ? `Change to ${plan.name} on ${dateText(startsAt)}`
        : charge === 0n
          ? `Start ${plan.name}`
          : `Pay ${amountText(charge)} and start ${plan.name}`
  return (
    <ActionForm action={`/api/portal/plans/${plan.id}/subscribe`} target="#plan">
      <input type="hidden" name="quoted_at" value={toRfc3339(view.now)} />
      <Button look="go">{button}</Button>
      <ButtonLink look="plain" href={planPath}>
        Change nothing
      </ButtonLink>
    </ActionForm>
  )
}

/** The rights that end with a plan, counted before the button. */
export const CancelPanel = ({ view }: { view: PlanView }) => {
  const { plan, current, plans } = view
  const free = plans.find(freeId)
  if (!free) throw new Error('there is no free plan')
  const end = current?.periodEnd ?? null
  const when = end === null ? 'now' : `on ${dateText(end)}`
  return (
    <Confirm
      id="cancel"
      title={`Cancel ${plan.name}?`}
      consequence={
        <>
          {plan.name} ends <strong>{when}</strong>
          {end === null ? '' : ', until when it is paid'}. Nothing is refunded, and you are not
          charged for it again. You can undo this until then. Keys, runs and receipts stay. After
          that, this changes:
        </>
      }
      affected={differences(plan, free).map(
        ([what, before, after]) => `${what}: ${before} → ${after}`,
      )}
      action="/api/portal/plans/cancel"
      target="#plan"
      button={`Cancel ${plan.name} ${when}`}
      keep={`Keep ${plan.name}`}
      keepHref={planPath}
    />
  )
}
