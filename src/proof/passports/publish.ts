/** Publishes a passport and hides it again. */
import type { Deps } from '../../app/deps-port.ts'
import { takeFreeWrites } from '../../ledger/stored-beside.ts'
import type { PassportRow } from '../../storage/db/schema/schema.ts'
import { assertNotRetired, toAudit } from './passport.ts'

type Needs = Pick<Deps, 'passports' | 'clock' | 'ids' | 'ledger'>
type Asked = { passport: PassportRow; actor: string }

/**
 * Shows a passport to everybody; again after it was hidden, in its old place. Publishing twice
 * changes nothing.
 * @throws Refusal `gone`.
 */
export const publishPassport = (deps: Needs, asked: Asked): Promise<PassportRow> =>
  show(deps, asked, 'public')

/**
 * Hides a passport: its page is 404 until it is published again. A draft stays a draft.
 * @throws Refusal `gone`.
 */
export const hidePassport = (deps: Needs, asked: Asked): Promise<PassportRow> =>
  show(deps, asked, 'hidden')

async function show(
  { passports, clock, ids, ledger }: Needs,
  { passport, actor }: Asked,
  status: 'public' | 'hidden',
): Promise<PassportRow> {
  if (status === 'public') await takeFreeWrites(ledger, passport.accountId, { status })
  const now = clock.now()
  const id = ids.make('req')
  return passports.change(passport.handle, (row) => {
    assertNotRetired(row)
    if (row.status === status || (row.status === 'draft' && status === 'hidden')) return undefined
    const action = status === 'public' ? 'passport.publish' : 'passport.hide'
    const note = { id, at: now, actor, action, detail: { from: row.status } }
    const publishedAt = row.publishedAt ?? now
    return { row: { ...row, status, publishedAt, updatedAt: now }, audit: toAudit(row, note) }
  })
}
