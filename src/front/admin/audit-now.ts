/** Audits the ledger on request. */
import type { Deps } from '../../app/deps-port.ts'
import type { Millis } from '../../kernel/clock.ts'
import type { AuditReport } from '../../ledger/store/audit.ts'
import { noteAction } from './note.ts'

/** The result of a requested audit. */
export type AuditResult = AuditReport & { at: Millis }

/** Audits the ledger; calls while an audit runs share its result. */
export function ledgerAuditor(deps: Pick<Deps, 'admin' | 'audits' | 'clock' | 'health' | 'ids'>) {
  let running: Promise<AuditResult> | undefined
  let last: AuditResult | undefined
  const audit = async (): Promise<AuditResult> => {
    const at = deps.clock.now()
    const report = await deps.audits.report(at)
    deps.health.ledger = report.faults.length === 0 ? 'balanced' : 'unbalanced'
    deps.health.ledgerFaults = report.faults.length
    last = { ...report, at }
    return last
  }
  return {
    last: (): AuditResult | undefined => last,
    async now(actor: string): Promise<AuditResult> {
      running ??= audit().finally(() => {
        running = undefined
      })
      const audited = await running
      const detail = { faults: audited.faults.length }
      await noteAction(deps, { actor, action: 'ledger.audit', subject: 'ledger', detail })
      return audited
    },
  }
}
