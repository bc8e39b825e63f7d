import type { PassportRow } from '../../storage/db/schema.ts'
import { unbindAll } from './bind.ts'
import { issueLast, sizeOf } from './issue.ts'
import { assertNotRetired, toAudit } from './passport.ts'

type Needs = Parameters<typeof unbindAll>[0] & Parameters<typeof issueLast>[0]
type Asked = { passport: PassportRow; actor: string }

/**
 * Retires a passport for ever: its keys name none from now on, its page and its handle answer 410,
 * and nobody gets the handle again. Of one that was ever public the last record is signed and
 * logged.
 * @throws Refusal `gone`, `log_diverged`.
 */
export async function retirePassport(deps: Needs, asked: Asked): Promise<PassportRow> {
  const { passport } = asked
  assertNotRetired(passport)
  await unbindAll(deps, asked)
  const standing = await deps.passports.stand(passport.handle)
  const wasSeen = passport.publishedAt !== null && standing && sizeOf(deps, standing) > 0
  if (wasSeen) await issueLast(deps, asked)
  else await retireUnseen(deps, asked)
  // One that was bound between the two.
  await unbindAll(deps, asked)
  return (await deps.passports.find(passport.handle)) ?? passport
}

function retireUnseen(
  { passports, clock, ids }: Needs,
  { passport, actor }: Asked,
): Promise<PassportRow> {
  const now = clock.now()
  const id = ids.make('req')
  return passports.change(passport.handle, (row) => {
    assertNotRetired(row)
    const note = { id, at: now, actor, action: 'passport.retire', detail: { from: row.status } }
    const next = { ...row, status: 'retired' as const, updatedAt: now, retiredAt: now }
    return { row: next, audit: toAudit(next, note) }
  })
}
