/** Signs the record of a passport and makes it a leaf of the log. */
import type { Deps } from '../../app/deps-port.ts'
import { canonical } from '../../kernel/canonical.ts'
import { refuse } from '../../kernel/refusal.ts'
import type { PassportStatementRow } from '../../storage/db/schema/schema.ts'
import { isDiverged } from '../log/divergence.ts'
import { assertNotRetired, type PassportCommand, toAudit } from './passport.ts'
import { type TrackRecord, toTrackRecord } from './record.ts'
import { statementDigest } from './statement.ts'
import type { Standing } from './store/standing.ts'

/** The record of a passport now. */
export const recordOf = ({ logs }: Pick<Deps, 'logs'>, standing: Standing): TrackRecord =>
  toTrackRecord(standing.row, standing.models, sizeOf({ logs }, standing))

/** How many leaves of the current log are counted. */
export const sizeOf = ({ logs }: Pick<Deps, 'logs'>, { countedTo }: Standing): number =>
  Math.max(0, countedTo - logs.current.start)

/**
 * Signs the record of a passport as it stands and makes it a leaf of the log. While nothing new
 * was counted it is the statement that was made before.
 * @throws Refusal `gone`, `conflict` while nothing is counted, `log_diverged`.
 */
export function issueStatement(
  deps: Deps,
  { passport, actor }: PassportCommand,
): Promise<PassportStatementRow> {
  assertIssuing(deps)
  const now = deps.clock.now()
  const id = deps.ids.make('req')
  return deps.passports.issue(passport.handle, (standing) => {
    assertNotRetired(standing.row)
    if (sizeOf(deps, standing) === 0) {
      refuse('conflict', 'No receipts are counted yet. Try again after a run.')
    }
    const statement = draft(deps, standing)
    const detail = { as_of_size: statement.asOfSize }
    const note = { id, at: now, actor, action: 'passport.statement', detail }
    return { statement, audit: toAudit(standing.row, note) }
  })
}

/** Retires a passport, its last record being a leaf of the log. @throws Refusal `log_diverged`. */
export function issueLast(
  deps: Deps,
  { passport, actor }: PassportCommand,
): Promise<PassportStatementRow> {
  assertIssuing(deps)
  const now = deps.clock.now()
  const id = deps.ids.make('req')
  return deps.passports.issue(passport.handle, (standing) => {
    assertNotRetired(standing.row)
    const statement = draft(deps, standing)
    const row = { ...standing.row, status: 'retired' as const, updatedAt: now, retiredAt: now }
    const detail = { from: standing.row.status, as_of_size: statement.asOfSize }
    const note = { id, at: now, actor, action: 'passport.retire', detail }
    return { statement, row, audit: toAudit(row, note) }
  })
}

function assertIssuing({ health }: Deps): void {
  if (isDiverged(health)) refuse('log_diverged')
}

function draft(deps: Deps, standing: Standing) {
  const { handle } = standing.row
  const asOfSize = sizeOf(deps, standing)
  const record = canonical(recordOf(deps, standing))
  const digest = statementDigest(handle, BigInt(asOfSize), record)
  const signature = deps.signer.sign(digest)
  const issuer = deps.logs.current.origin
  return { handle, issuer, asOfSize, record, digest, signature, createdAt: deps.clock.now() }
}
