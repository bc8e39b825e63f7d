/** Retires a passport for ever. */
import type { Deps } from '../../app/deps-port.ts'
import type { PassportRow } from '../../storage/db/schema/schema.ts'
import { unbindAll } from './bind.ts'
import { issueLast, sizeOf } from './issue.ts'
import { assertNotRetired, changePassport, type PassportCommand } from './passport.ts'

/**
 * Unbinds its keys; its page and handle answer 410, and the handle is never assigned again. If it
 * was ever public, its last record is signed and logged.
 * @throws Refusal `gone`, `log_diverged`.
 */
export async function retirePassport(deps: Deps, asked: PassportCommand): Promise<PassportRow> {
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

const retireUnseen = (deps: Deps, command: PassportCommand): Promise<PassportRow> =>
  changePassport(deps, command, 'passport.retire', ({ status: from }, retiredAt) => ({
    next: { status: 'retired', retiredAt },
    detail: { from },
  }))
