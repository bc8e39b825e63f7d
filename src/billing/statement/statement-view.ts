/** Movements and days in the shapes of the API. */
import { toRfc3339 } from '../../kernel/clock.ts'
import { toJsonInteger } from '../../kernel/money.ts'
import { changeOf } from '../../ledger/number-transfers.ts'
import type { StatementDay } from './days.ts'
import { type Movement, placeText } from './movement.ts'
import type { MovementAnswer, StatementDayAnswer } from './shapes.ts'

/** A line as native JSON shows it: what came in is positive, what was paid negative. */
export const toMovementView = (line: Movement): MovementAnswer => ({
  id: placeText(line),
  object: 'movement',
  kind: line.kind,
  ref: line.ref,
  at: toRfc3339(line.at),
  amount_nusd: toJsonInteger(changeOf(line)),
  balance_nusd: toJsonInteger(line.balance),
})

/** A day: `opening + runs + movements` is `closing`. */
export const toDayView = ({
  day,
  opening,
  closing,
  runs,
  others,
}: StatementDay): StatementDayAnswer => ({
  id: toRfc3339(day).slice(0, 10),
  object: 'statement.day',
  opening_nusd: toJsonInteger(opening),
  closing_nusd: toJsonInteger(closing),
  runs: { count: runs.count, amount_nusd: toJsonInteger(runs.amount) },
  movements: others.map(toMovementView),
})
