/** Reference entries of plans. */
import * as t from '../../web/http/shape.ts'
import * as r from '../../web/reference/entry.ts'
import { emptyBody, planPreviewShape, plansShape, standingShape, subscribeBody } from './shapes.ts'

export const plansEntry = r.entriesUnder('/v1').get('listPlans', '/plans', 'List plans', {
  about: "The plans there are, and the one of the key's account.",
  access: 'any',
  answers: r.ok('The plans.', plansShape),
})

const { get, post } = r.entriesUnder('/api/portal/plans', {
  path: { id: t.text('Id of a plan.', 'builder') },
})
const empty = { body: { schema: emptyBody, form: emptyBody, isOptional: true } } as const
const subscribed = r.done('Where the account stands now.', standingShape)
const refusedOnFree = {
  ...empty,
  examples: [{ name: 'The free plan', status: 409 }],
  answers: subscribed,
  refuses: ['conflict'],
} as const

export const ownPlansArea = r.area('own-plans', 'dashboard', 'Plan of an account', {
  about: 'The plan of the signed-in account, what a change costs, and the change.',
  operations: [
    get('listOwnPlans', '', 'Plans, and the one of the account', {
      about: 'As `GET /v1/plans`.',
      answers: r.shown('The plans.', plansShape),
    }),
    post('previewPlan', '/:id/preview', 'What a change of plan costs', {
      ...empty,
      about: 'Nothing is charged. `quoted_at` goes back with the subscribe.',
      examples: ['A larger plan'],
      answers: r.done('What it would cost.', planPreviewShape),
    }),
    post('subscribePlan', '/:id/subscribe', 'Change the plan', {
      about:
        'A dearer plan starts now and is paid from the balance; a cheaper one starts with the ' +
        'next month. Asked for twice, it is paid once.',
      body: { schema: subscribeBody, form: subscribeBody, isOptional: true },
      isIdempotent: true,
      examples: r.bothWays('A larger plan', {}),
      answers: subscribed,
      refuses: ['conflict', 'insufficient_balance'],
    }),
    post('cancelPlan', '/cancel', 'Cancel the plan', {
      ...refusedOnFree,
      about: 'It ends with its month. On the free plan it is a 409.',
    }),
    post('resumePlan', '/resume', 'Keep the plan', {
      ...refusedOnFree,
      about: 'Takes a cancellation, or a change for later, back.',
    }),
  ],
})
