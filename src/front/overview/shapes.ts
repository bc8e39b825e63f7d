/** The body and the answers of the overview. */
import { runShape } from '../../runs/shapes.ts'
import * as t from '../../web/http/shape.ts'

const alertTypes = [
  'key_expires',
  'balance_low',
  'balance_used_up',
  'cap_near',
  'cap_used_up',
  'more_keys',
  'log_diverged',
  'unbalanced',
  'degraded',
] as const

export const overviewShape = t.answer('Overview', 'The account at a glance.', {
  object: t.only('overview'),
  balance_nusd: t.nusd('Balance, holds included.', 10_000_000_000),
  held_nusd: t.nusd('Reserved for runs in flight.', 0),
  available_nusd: t.nusd('What can still be spent.', 10_000_000_000),
  plan: t.text('Its plan.', 'free'),
  spent_nusd: t.nusd('Spent in the last `spend_days` days.', 4650),
  spend_days: t.integer('Days that the spending is of.', 30),
  per_day_nusd: t.orNull(t.nusd('Spent a day; null while too little is known.', 4650)),
  lasts_days: t.orNull(t.integer('Days that the balance lasts at that pace.', 30)),
  alerts: t.list(
    t.object('', {
      type: t.oneOf('What is wrong or will be soon.', alertTypes),
      key_id: t.usuallyNull(t.id('key', 'The key it is about.')),
    }),
    'The worst first.',
  ),
  recent_runs: t.list(runShape, 'The newest runs, at most 5.'),
  onboarding: t.orNull(
    t.object('The first steps; null once a receipt was verified.', {
      done: t.integer('Steps done, of 5.', 2, { minimum: 0, maximum: 5 }),
    }),
  ),
})

export const verifiedShape = t.answer('Verified', '', {
  verified: t.flag('Always true: anything else is an error.', true),
})

/** The body of `POST /api/portal/overview/verify`. */
export const verifyRunBody = t.body('VerifyRunWish', 'Whose receipt is to be verified.', {
  run_id: t.text('A run of the account that left a receipt.', t.sampleIds.run),
  'digest?': t.hash('What your browser checked; without it the server’s check is noted.'),
})

export type OverviewAnswer = t.Static<typeof overviewShape>
