import type { Deps } from '../../app/deps-port.ts'
import type { Millis } from '../../kernel/clock.ts'
import type { AuditReport } from '../../ledger/store/audit.ts'
import { noteAction } from './note.ts'

type Needs = Pick<Deps, 'admin' | 'audits' | 'clock' | 'health' | 'ids'>

/** An audit of the ledger that somebody asked for. */
export type Audited = AuditReport & { at: Millis }

/** Audits the ledger when asked; who asks while it runs gets the same answer. */
export function ledgerAuditor(deps: Needs) {
  let running: Promise<Audited> | undefined
  let last: Audited | undefined
  const audit = async (): Promise<Audited> => {
    const at = deps.clock.now()
    const report = await deps.audits.report(at)
    deps.health.ledger = report.faults.length === 0 ? 'balanced' : 'unbalanced'
    deps.health.ledgerFaults = report.faults.length
    last = { ...report, at }
    return last
  }
  return {
    last: (): Audited | undefined => last,
    async now(actor: string): Promise<Audited> {
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
