/** Publishes a passport and hides it again. */
import type { Deps } from '../../app/deps-port.ts'
import { takeFreeWrites } from '../../ledger/stored-beside.ts'
import type { PassportRow } from '../../storage/db/schema/schema.ts'
import { changePassport, type PassportCommand } from './passport.ts'

type Needs = Pick<Deps, 'passports' | 'clock' | 'ids' | 'ledger'>

/**
 * Shows a passport to everybody; again after it was hidden, in its old place. Publishing twice
 * changes nothing.
 * @throws Refusal `gone`.
 */
export const publishPassport = (deps: Needs, command: PassportCommand): Promise<PassportRow> =>
  show(deps, command, 'public')

/**
 * Hides a passport: its page is 404 until it is published again. A draft stays a draft.
 * @throws Refusal `gone`.
 */
export const hidePassport = (deps: Needs, command: PassportCommand): Promise<PassportRow> =>
  show(deps, command, 'hidden')

async function show(
  deps: Needs,
  command: PassportCommand,
  status: 'public' | 'hidden',
): Promise<PassportRow> {
  const isShown = status === 'public'
  if (isShown) await takeFreeWrites(deps.ledger, command.passport.accountId, { status })
  const action = isShown ? 'passport.publish' : 'passport.hide'
  return changePassport(deps, command, action, (row, now) => {
    if (row.status === status || (row.status === 'draft' && !isShown)) return undefined
    const next = { status, publishedAt: row.publishedAt ?? now }
    return { next, detail: { from: row.status } }
  })
}
