/** The answers of the statement. */
import * as t from '../../web/http/shape.ts'

/** Money that may go out as well as come in. */
const change = (about: string, example: number) =>
  t.integer(`${about} Nano-USD: 1 USD is 1,000,000,000. Negative for what was paid.`, example)

const kinds = [
  'grant',
  'run',
  'deposit',
  'plan',
  'reversal',
  'claim',
  'refund',
  'loss',
  'voucher',
  'move',
] as const

export const movementShape = t.answer('Movement', 'What changed the balance.', {
  id: t.text('Its place.', '1785585600000-1'),
  object: t.only('movement'),
  kind: t.oneOf('Why.', kinds),
  ref: t.text('The run, the deposit, the grant or the period it is of.', t.sampleIds.run),
  at: t.time('When.'),
  amount_nusd: change('By how much.', -4650),
  balance_nusd: t.nusd('What was there after it.', 9_999_995_350),
})

export const movementPageShape = t.page('MovementPage', 'Movements.', movementShape)

export const statementDayShape = t.answer(
  'StatementDay',
  'A day: opening, runs and movements come to closing.',
  {
    id: t.text('The day, UTC.', '2026-08-01'),
    object: t.only('statement.day'),
    opening_nusd: t.nusd('What was there before.', 0),
    closing_nusd: t.nusd('What was there after.', 9_999_995_350),
    runs: t.object('Its runs.', {
      count: t.count('How many.', 1),
      amount_nusd: change('What they came to.', -4650),
    }),
    movements: t.list(movementShape, 'Movements other than runs.'),
  },
)

export const statementDayPageShape = t.page('StatementDayPage', 'Days.', statementDayShape)

export type MovementAnswer = t.Static<typeof movementShape>
export type StatementDayAnswer = t.Static<typeof statementDayShape>
