/** Passports, statements and their receipts as JSON. */
import type { Deps } from '../../app/deps-port.ts'
import { timeOrNull, toRfc3339 } from '../../kernel/clock.ts'
import { toHex } from '../../kernel/hex.ts'
import { toJsonInteger } from '../../kernel/money.ts'
import type { PassportStatementRow } from '../../storage/db/schema/schema.ts'
import { toChecksumAddress } from '../../verify/address.ts'
import { recordOf } from './issue.ts'
import type { OwnPassportAnswer, PassportReceiptAnswer, PassportStatementAnswer } from './shapes.ts'
import { toStatementFile } from './statement-file.ts'
import type { PublicReceipt } from './store/public.ts'
import type { Standing } from './store/standing.ts'

export const passportPath = (handle: string): string => `/passports/${handle}`
export const statementPath = (handle: string): string => `/passports/${handle}/statement`

/** A passport as everybody sees it: never its account, unless its owner says so, and no key. */
export function toPassportView(deps: Pick<Deps, 'logs' | 'settings'>, standing: Standing) {
  const { row } = standing
  const { baseUrl } = deps.settings
  return {
    id: row.id,
    object: 'passport' as const,
    handle: row.handle,
    display_name: row.displayName,
    kind: row.kind,
    bio: row.bio,
    links: row.links,
    status: row.status,
    created_at: toRfc3339(row.createdAt),
    owner: row.ownerShown ? toChecksumAddress(row.accountId) : null,
    url: baseUrl + passportPath(row.handle),
    track_record: recordOf(deps, standing),
  }
}

/** The parts that only its owner sees. */
export const toOwnView = (
  deps: Pick<Deps, 'logs' | 'settings'>,
  standing: Standing,
  keyIds: readonly string[],
): OwnPassportAnswer => ({
  ...toPassportView(deps, standing),
  show_owner: standing.row.ownerShown,
  updated_at: toRfc3339(standing.row.updatedAt),
  published_at: timeOrNull(standing.row.publishedAt),
  retired_at: timeOrNull(standing.row.retiredAt),
  key_ids: [...keyIds],
})

/** The newest record that was signed, and where the proof of it is; null while there is none. */
export function toStatementView(
  deps: Pick<Deps, 'logs' | 'settings' | 'signer' | 'signers'>,
  row: PassportStatementRow | undefined,
): PassportStatementAnswer | null {
  if (!row) return null
  return {
    object: 'passport_statement',
    ...toStatementFile(deps, row),
    created_at: toRfc3339(row.createdAt),
    file_url: deps.settings.baseUrl + statementPath(row.handle),
  }
}

/** A public receipt: of its sections only those that its owner shows. */
export const toReceiptView = (
  { settings }: Pick<Deps, 'settings'>,
  { share, run }: PublicReceipt,
): PassportReceiptAnswer => {
  const shows = (name: 'run' | 'charge') => share.sections.includes(name)
  return {
    id: share.receiptId,
    object: 'receipt',
    digest: run.digest ? toHex(run.digest) : null,
    model: shows('run') ? run.model : null,
    kind: shows('run') ? run.kind : null,
    outcome: shows('run') ? run.outcome : null,
    issued_at: timeOrNull(run.finishedAt),
    cost_nusd: shows('charge') ? toJsonInteger(run.cost) : null,
    url: `${settings.baseUrl}/receipts/${share.receiptId}`,
  }
}
