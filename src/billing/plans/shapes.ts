/** The bodies and answers of plans. */
import * as t from '../../web/http/shape.ts'

export const planShape = t.answer('Plan', 'What an account can have.', {
  id: t.text('Its name in requests.', 'builder'),
  object: t.only('plan'),
  name: t.text('Its name for people.', 'Builder'),
  price_nusd: t.nusd('Of one period.', 20_000_000_000),
  period: t.oneOf('How often it is paid.', ['month', 'none']),
  discount_bps: t.integer('Off every run of a model without its own, in 0.01 %.', 500),
  limits: t.object('What holds on this server.', {
    rpm: t.integer('Requests a minute of a key.', 20_000),
    concurrency: t.integer('Runs in flight of a key.', 2048),
    max_keys: t.integer('Active keys.', 200),
    max_depth: t.integer('How deep keys nest.', 4),
    history_days: t.integer('How far lists go back, in days.', 365),
  }),
  models: t.list(t.text('A glob.', 'counterfoil/*'), 'Empty: all.'),
  'discounts?': t.list(
    t.object('', {
      models: t.text('A glob.', 'counterfoil/*'),
      discount_bps: t.integer('Off their runs.', 1000),
    }),
    'Where they differ: the first glob that names a model counts.',
  ),
})

const subscriptionMembers = {
  id: t.id('sub', 'Id of the subscription.'),
  status: t.oneOf('Whether it goes on.', ['active', 'canceling', 'ended', 'lapsed']),
  price_nusd: t.nusd('Paid for the present period.', 20_000_000_000),
  started_at: t.time('When it began.'),
  period_start: t.time('When the present period began.'),
  period_end: t.orNull(t.time('When the present period ends.')),
  next_plan: t.usuallyNull(t.text('What follows it, if another one does.', 'free')),
  ended_at: t.usuallyNull(t.time('When it ended.')),
}

export const subscriptionShape = t.answer('Subscription', 'A plan that is paid for.', {
  object: t.only('subscription'),
  plan: t.text('The plan.', 'builder'),
  ...subscriptionMembers,
})

export const plansShape = t.answer('Plans', 'All plans, and what the account of the key has.', {
  object: t.only('list'),
  data: t.list(planShape, 'The cheapest first.'),
  has_more: t.flag('Always false.', false),
  first_id: t.orNull(t.text('The first plan.', 'free')),
  last_id: t.orNull(t.text('The last plan.', 'scale')),
  plan: t.text("The account's plan.", 'free'),
  subscription: t.usuallyNull(subscriptionShape),
})

/** The body of `POST /api/portal/plans/:id/subscribe`. */
export const subscribeBody = t.body('SubscribeWish', 'At which price.', {
  'quoted_at?': t.text(
    'That of a preview, at most ten minutes old: exactly what it showed is paid.',
    '2026-08-01T12:00:00.000Z',
    { pattern: '^\\d{4}-\\d\\d-\\d\\dT[\\d:.]{8,12}Z$' },
  ),
})

/** The body of a route that takes none of its own. */
export const emptyBody = t.body('NoMembers', 'No members.', {})

export const planPreviewShape = t.answer('PlanPreview', 'What a change of plan costs.', {
  object: t.only('plan.preview'),
  plan: t.text('The plan.', 'builder'),
  change: t.oneOf('When it starts: `keep` changes nothing.', ['now', 'later', 'cancel', 'keep']),
  charge_nusd: t.nusd('Paid now.', 20_000_000_000),
  credit_nusd: t.nusd('Left of the present month, taken off.', 0),
  starts_at: t.time('When the plan starts.'),
  paid_until: t.orNull(t.time('Until when it is paid then.')),
  quoted_at: t.time('Goes back with the subscribe, which then costs exactly this.'),
})

const standing = {
  object: t.only('subscription'),
  plan: t.text('The plan that holds now.', 'builder'),
  available_nusd: t.nusd('What can still be spent.', 5_000_000_000),
  as_of: t.time('When that was so.'),
}

export const standingShape = t.choice(
  'Standing',
  'The subscription of the account, its plan and its money.',
  [
    t.object('', { ...standing, ...subscriptionMembers }),
    t.object('On the free plan.', { ...standing, id: t.nothing }),
  ],
)

export type PlanAnswer = t.Static<typeof planShape>
export type SubscriptionAnswer = t.Static<typeof subscriptionShape>
export type PlansAnswer = t.Static<typeof plansShape>
export type PlanPreviewAnswer = t.Static<typeof planPreviewShape>
