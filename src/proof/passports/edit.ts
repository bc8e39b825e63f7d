/** Changes the profile of a passport. */
import { differenceOf } from '../../access/keys/note.ts'
import type { Deps } from '../../app/deps-port.ts'
import type { Json } from '../../kernel/canonical.ts'
import { takeFreeWrites } from '../../ledger/stored-beside.ts'
import type { PassportRow } from '../../storage/db/schema/schema.ts'
import { changePassport, type PassportCommand } from './passport.ts'
import { everyProfileName, type Profile, type ProfileChange, toProfile } from './profile.ts'

/**
 * Changes what a passport says of itself; what is left out stays, and so does its handle.
 * @throws Refusal `invalid_request` with `param`, `gone`.
 */
export async function editPassport(
  deps: Pick<Deps, 'passports' | 'clock' | 'ids' | 'ledger'>,
  { wish, ...command }: PassportCommand & { wish: ProfileChange },
): Promise<PassportRow> {
  const { passport } = command
  // The entry of the audit has both sides.
  await takeFreeWrites(deps.ledger, passport.accountId, [profileOf(passport), wish])
  return changePassport(deps, command, 'passport.change', (row) => {
    const before = profileOf(row)
    const next = toProfile({ ...before, ...wish })
    const detail = differenceOf(toDetail(before), toDetail(next))
    return Object.keys(detail).length === 0 ? undefined : { next, detail }
  })
}

const profileOf = (row: PassportRow): Profile =>
  Object.fromEntries(everyProfileName.map(([name]) => [name, row[name]])) as Profile

const toDetail = (profile: Profile): Record<string, Json> =>
  Object.fromEntries(everyProfileName.map(([name, member]) => [member, profile[name]]))
