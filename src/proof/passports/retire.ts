/** Retires a passport for ever. */
import type { Deps } from '../../app/deps-port.ts'
import type { PassportRow } from '../../storage/db/schema/schema.ts'
import { unbindAll } from './bind.ts'
import { issueLast, sizeOf } from './issue.ts'
import { assertNotRetired, toAudit } from './passport.ts'

type Asked = { passport: PassportRow; actor: string }

/**
 * Unbinds its keys; its page and handle answer 410, and the handle is never assigned again. If it
 * was ever public, its last record is signed and logged.
 * @throws Refusal `gone`, `log_diverged`.
 */
export async function retirePassport(deps: Deps, asked: Asked): Promise<PassportRow> {
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
  { passports, clock, ids }: Pick<Deps, 'passports' | 'clock' | 'ids'>,
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
