/** Changes the profile of a passport. */
import { differenceOf } from '../../access/keys/note.ts'
import type { Deps } from '../../app/deps-port.ts'
import type { Json } from '../../kernel/canonical.ts'
import { takeFreeWrites } from '../../ledger/stored-beside.ts'
import type { PassportRow } from '../../storage/db/schema/schema.ts'
import { assertNotRetired, toAudit } from './passport.ts'
import { everyProfileName, type Profile, type ProfileWish, toProfile } from './profile.ts'

type Asked = { passport: PassportRow; actor: string; wish: ProfileWish }

/**
 * Changes what a passport says of itself; what is left out stays, and so does its handle.
 * @throws Refusal `invalid_request` with `param`, `gone`.
 */
export async function editPassport(
  { passports, clock, ids, ledger }: Pick<Deps, 'passports' | 'clock' | 'ids' | 'ledger'>,
  { passport, actor, wish }: Asked,
): Promise<PassportRow> {
  // The entry of the audit has both sides.
  await takeFreeWrites(ledger, passport.accountId, [profileOf(passport), wish])
  const now = clock.now()
  const id = ids.make('req')
  return passports.change(passport.handle, (row) => {
    assertNotRetired(row)
    const profile = toProfile({ ...profileOf(row), ...wish })
    const detail = differenceOf(toDetail(profileOf(row)), toDetail(profile))
    if (Object.keys(detail).length === 0) return undefined
    const note = { id, at: now, actor, action: 'passport.change', detail }
    return { row: { ...row, ...profile, updatedAt: now }, audit: toAudit(row, note) }
  })
}

const profileOf = (row: PassportRow): Profile =>
  Object.fromEntries(everyProfileName.map(([name]) => [name, row[name]])) as Profile

const toDetail = (profile: Profile): Record<string, Json> =>
  Object.fromEntries(everyProfileName.map(([name, member]) => [member, profile[name]]))
