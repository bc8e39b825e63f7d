/** Writes every movement of an account as a file. */
import type { Deps } from '../../app/deps-port.ts'
import { toRfc3339 } from '../../kernel/clock.ts'
import { plainField, toLine } from '../../kernel/csv.ts'
import { toUsd } from '../../kernel/money.ts'
import { changeOf } from '../../ledger/number-transfers.ts'
import { type Movement, type Place, placeText } from './movement.ts'

/** Lines of one read, which nothing else of this process runs beside. */
const stepMax = 500

const header = [
  'time',
  'id',
  'kind',
  'ref',
  'amount_usd',
  'amount_nusd',
  'balance_usd',
  'balance_nusd',
]

type Needs = Pick<Deps, 'accounts' | 'exportSlots' | 'statements'>

/**
 * Everything that moved the money of an account up to now, oldest first: the amounts add up to the
 * balance of the last line, which is the account's at that moment.
 */
export async function exportStatement(deps: Needs, account: string) {
  const last = (await deps.accounts.find(account))?.moves ?? 0
  return {
    asOf: last,
    fileName: `counterfoil-statement-as-of-${last}.csv`,
    contentType: 'text/csv; charset=utf-8',
    /** @throws Refusal 'concurrency_limited' */
    open(signal: AbortSignal): AsyncIterable<string> {
      const release = deps.exportSlots.take(account)
      signal.addEventListener('abort', release)
      if (signal.aborted) release()
      return write(deps, account, last, signal)
    },
  }
}

async function* write(
  { statements }: Needs,
  account: string,
  last: number,
  signal: AbortSignal,
): AsyncGenerator<string> {
  yield toLine(header)
  let after: Place | undefined
  while (!signal.aborted) {
    const lines = await statements.following(account, after, last, stepMax)
    if (lines.length > 0) yield lines.map(lineOf).join('')
    if (lines.length < stepMax) return
    after = lines.at(-1)
  }
}

const lineOf = (line: Movement): string =>
  toLine(
    [
      toRfc3339(line.at),
      placeText(line),
      line.kind,
      line.ref,
      toUsd(changeOf(line)),
      changeOf(line),
      toUsd(line.balance),
      line.balance,
    ].map(plainField),
  )
