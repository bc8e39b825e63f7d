/** The page of an account's plan. */
import { freeId, type Plan } from '../../../access/plan.ts'
import { Amount, amountText } from '../../../web/ui/amount.tsx'
import { Button, ButtonLink } from '../../../web/ui/button.tsx'
import { ActionForm } from '../../../web/ui/form.tsx'
import { ErrorNote, Notice } from '../../../web/ui/notice.tsx'
import { Facts, Pad, PageHead, Panel } from '../../../web/ui/panel.tsx'
import { Badge } from '../../../web/ui/status.tsx'
import { dateText } from '../../../web/ui/when.tsx'
import { discountText, discountWords, planModelsText, planPath, priceText } from '../plan-words.ts'
import { CancelPanel, PreviewPanel } from './plan-change.tsx'
import type { PlanView } from './plan-page-view.ts'

export const PlanPage = ({ view }: { view: PlanView }) => (
  <>
    <PageHead title="Plan" />
    <PlanBody view={view} />
  </>
)

/** The part that an action replaces: everything that follows from the standing of the account. */
export const PlanBody = ({ view }: { view: PlanView }) => (
  <div class="stack" id="plan">
    {view.refusal ? <ErrorNote what={view.refusal.message} /> : null}
    {view.quote ? <PreviewPanel view={view} quote={view.quote} /> : null}
    {view.cancels ? <CancelPanel view={view} /> : null}
    <Standings view={view} />
    <ul class="plans">
      {view.plans.list.map((plan) => (
        <li>
          <PlanPanel view={view} plan={plan} />
        </li>
      ))}
    </ul>
    <p class="quiet">
      The lowest limit of a key, its plan and this server applies. A plan is paid from the balance.
      If the balance does not cover it on the day, the account returns to {nameOf(view, freeId)},
      and nothing is owed.
    </p>
  </div>
)

/** The present plan and the next one, in sentences. */
const Standings = ({ view }: { view: PlanView }) => {
  const { plan, current, lapsed, now } = view
  if (!current) {
    return lapsed ? (
      <Notice
        tone="warn"
        title={`${nameOf(view, lapsed.plan)} lapsed on ${dateText(lapsed.endedAt ?? now)}.`}
      >
        The balance did not cover {amountText(priceOf(view, lapsed.plan) ?? lapsed.price)}. Nothing
        was charged and nothing is owed. The account is on {plan.name}.
      </Notice>
    ) : null
  }
  const end = current.periodEnd === null ? undefined : dateText(current.periodEnd)
  if (current.status === 'canceling') {
    return (
      <Notice
        tone="warn"
        title={`${plan.name} ends on ${end}.`}
        action={<Resume label={`Keep ${plan.name}`} />}
      >
        It is paid until then. After that, your account is on {nameOf(view, freeId)}.
      </Notice>
    )
  }
  if (current.nextPlan !== null) {
    const next = nameOf(view, current.nextPlan)
    return (
      <Notice
        tone="ok"
        title={`${next} follows ${plan.name} on ${end}.`}
        action={<Resume label={`Keep ${plan.name}`} />}
      >
        {plan.name} is paid until then; {next} costs{' '}
        {amountText(priceOf(view, current.nextPlan) ?? 0n)} from then on.
      </Notice>
    )
  }
  return (
    <Notice
      tone="ok"
      title={end ? `${plan.name} is paid until ${end}.` : `${plan.name} is paid.`}
      action={
        <ButtonLink small href={`${planPath}?cancel=1`}>
          Cancel {plan.name}
        </ButtonLink>
      }
    >
      {end
        ? `It renews then for ${amountText(priceOf(view, plan.id) ?? 0n)} from the balance.`
        : ''}
    </Notice>
  )
}

const Resume = ({ label }: { label: string }) => (
  <ActionForm action="/api/portal/plans/resume" target="#plan">
    <Button small>{label}</Button>
  </ActionForm>
)

const PlanPanel = ({ view, plan }: { view: PlanView; plan: Plan }) => (
  <Panel id={`plan-${plan.id}`} title={plan.name} aside={<StateOf view={view} plan={plan} />}>
    <Pad>
      <p class="price">
        <Amount nusd={plan.price} /> <span class="quiet">{priceText(plan)}</span>
      </p>
      <Facts
        of={[
          [discountWords(plan), discountText(plan.discountBps)],
          ['Requests per minute', count(plan.limits.rpm)],
          ['Concurrent runs', count(plan.limits.concurrency)],
          ['Active keys', count(plan.limits.maxKeys)],
          ['Key levels', count(plan.limits.maxDepth + 1)],
          ['History in lists', `${count(plan.limits.historyDays)} days`],
          ['Models', planModelsText(plan)],
        ]}
      />
      {plan.id === view.plan.id ? null : (
        <ActionForm action={`/api/portal/plans/${plan.id}/preview`} target="#plan">
          {plan.price > view.plan.price ? (
            <Button look="go">See what {plan.name} changes</Button>
          ) : (
            <Button>See what {plan.name} changes</Button>
          )}
        </ActionForm>
      )}
    </Pad>
  </Panel>
)

const StateOf = ({ view, plan }: { view: PlanView; plan: Plan }) => {
  if (plan.id === view.plan.id) return <Badge tone="ok">Yours</Badge>
  const { current } = view
  const next = current?.status === 'canceling' ? freeId : current?.nextPlan
  return plan.id === next ? <Badge tone="wait">Next</Badge> : null
}

const count = (value: number): string => value.toLocaleString('en-US')

const nameOf = ({ plans }: PlanView, id: string): string => plans.find(id)?.name ?? id
const priceOf = ({ plans }: PlanView, id: string): bigint | undefined => plans.find(id)?.price
