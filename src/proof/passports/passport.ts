/** A passport: a public identity whose track record the log proves. */
import type { Deps } from '../../app/deps-port.ts'
import type { Json } from '../../kernel/canonical.ts'
import type { Millis } from '../../kernel/clock.ts'
import { refuse } from '../../kernel/refusal.ts'
import type { AuditRow, PassportRow } from '../../storage/db/schema/schema.ts'
import { isHandle } from './handle.ts'

export type Status = PassportRow['status']

/** Passports of one account, retired ones too: a handle is never free again. */
export const maxPassports = 20

/** A change of a passport in the audit. */
export type Note = {
  id: string
  at: Millis
  /** A wallet. */
  actor: string
  action: string
  detail: Record<string, Json>
}

export const toAudit = ({ accountId, handle }: PassportRow, note: Note): AuditRow => ({
  ...note,
  accountId,
  subject: handle,
})

/**
 * A passport of an account, for its owner.
 * @throws Refusal `not_found`, the same for a passport of others as for none.
 */
export async function findOwnPassport(
  { passports }: Pick<Deps, 'passports'>,
  account: string,
  handle: string,
): Promise<PassportRow> {
  const row = isHandle(handle) ? await passports.find(handle) : undefined
  if (row?.accountId === account) return row
  refuse('not_found', 'You do not have this passport.')
}

/** @throws Refusal `gone` for a passport that is retired. */
export function assertNotRetired({ status }: Pick<PassportRow, 'status'>): void {
  if (status !== 'retired') return
  refuse('gone', 'This passport is retired. That is final.')
}

/** A passport that is to change, and the wallet that asks for it. */
export type PassportCommand = { passport: PassportRow; actor: string }

type Change = { next: Partial<PassportRow>; detail: Record<string, Json> }

/**
 * Changes a passport as `decide` says, and notes it as `action`; undefined changes nothing.
 * @throws Refusal `gone`, and as `decide`
 */
export function changePassport(
  { passports, clock, ids }: Pick<Deps, 'passports' | 'clock' | 'ids'>,
  { passport, actor }: PassportCommand,
  action: string,
  decide: (row: PassportRow, now: Millis) => Change | undefined,
): Promise<PassportRow> {
  const [at, id] = [clock.now(), ids.make('req')]
  return passports.change(passport.handle, (row) => {
    assertNotRetired(row)
    const change = decide(row, at)
    if (!change) return undefined
    const audit = toAudit(row, { id, at, actor, action, detail: change.detail })
    return { row: { ...row, ...change.next, updatedAt: at }, audit }
  })
}
