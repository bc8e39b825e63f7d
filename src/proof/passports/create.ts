/** Creates a passport as a draft and takes its handle for ever. */
import type { Deps } from '../../app/deps-port.ts'
import { refuse } from '../../kernel/refusal.ts'
import type { PassportRow } from '../../storage/db/schema/schema.ts'
import { type Call, callRowOf, type Reply } from '../../storage/idempotency/call.ts'
import { assertHandle, skeletonOf } from './handle.ts'
import { maxPassports, toAudit } from './passport.ts'
import { type Profile, toProfile } from './profile.ts'

type PassportRequest = Pick<Profile, 'displayName' | 'kind'> &
  Partial<Profile> & {
    account: string
    /** The wallet that does it; the account's own by default. */
    actor?: string
    handle: string
    /** The call and its answer to keep; set if the caller sent an Idempotency-Key. */
    once?: { call: Call; toReply: (row: PassportRow) => Reply } | undefined
  }

/**
 * Makes a passport that only its owner sees, and takes its handle for ever.
 * @throws Refusal `invalid_request` with `param`; `conflict` for a handle that exists or looks
 * like one that does, and for an account that has the most it can have; `idempotency_mismatch`,
 * `idempotency_in_progress`.
 */
export async function createPassport(
  deps: Pick<Deps, 'passports' | 'clock' | 'ids' | 'replies' | 'settings'>,
  { account, actor = account, handle, once, ...wish }: PassportRequest,
): Promise<PassportRow> {
  const { passports, clock, ids } = deps
  assertHandle(handle)
  const now = clock.now()
  const row: PassportRow = {
    handle,
    id: ids.make('psp'),
    accountId: account,
    ...toProfile(wish),
    status: 'draft',
    createdAt: now,
    updatedAt: now,
    publishedAt: null,
    retiredAt: null,
    ...nothingYet,
  }
  const detail = { kind: row.kind, display_name: row.displayName }
  const note = { id: ids.make('req'), at: now, actor, action: 'passport.create', detail }
  const skeleton = skeletonOf(handle)
  const audit = toAudit(row, note)
  const call = once && callRowOf(deps, once.call, once.toReply(row), now)
  const claimed = await passports.claim({ row, skeleton, audit, most: maxPassports, call })
  if (claimed.is === 'asked') {
    const isSame = claimed.known.fingerprint === call?.fingerprint
    refuse(isSame ? 'idempotency_in_progress' : 'idempotency_mismatch')
  }
  if (claimed.is === 'too many') {
    const message = `An account can have ${maxPassports} passports, retired ones included.`
    refuse('conflict', `${message} Use one of yours.`)
  }
  if (claimed.is === 'taken') {
    const message = claimed.by === handle ? takenWords : confusableWords
    refuse('conflict', { param: 'handle', message })
  }
  return row
}

const nothingYet = {
  runs: 0,
  succeeded: 0,
  spent: 0n,
  activeDays: 0,
  firstAt: null,
  lastAt: null,
  publicReceipts: 0,
}

const takenWords =
  'This handle is taken. Handles are never assigned twice, not even retired ones. ' +
  'Choose another.'

const confusableWords =
  'This handle looks like one that is taken: hyphens do not count, and 0 and o, 1, l and i, rn ' +
  'and m, vv and w, 2 and z, 5 and s, 8 and b are the same. Choose another.'
