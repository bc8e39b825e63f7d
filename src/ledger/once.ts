/** Makes a command idempotent: one that carries an Idempotency-Key takes effect once. */
import type { Deps } from '../app/deps-port.ts'
import type { Millis } from '../kernel/clock.ts'
import { refuse } from '../kernel/refusal.ts'
import { type Call, callRowOf, type Reply } from '../storage/idempotency/call.ts'
import type { UnitOfWork } from './unit-of-work.ts'

/** An idempotent call as a command uses it. */
export type Once<Made> = {
  scope: string
  /**
   * Call it before anything else in `decide`.
   * @throws Refusal `idempotency_mismatch`, `idempotency_in_progress`
   */
  assertFirst(unit: UnitOfWork): void
  /** Call it last in `decide`: stores the call, with its answer if it is known already. */
  note(unit: UnitOfWork, made: Made, runId?: string): void
}

/** `toReply` returns the answer, or undefined where the end of the run stores it. */
export function onceOf<Made>(
  { replies, settings }: Pick<Deps, 'replies' | 'settings'>,
  { scope, fingerprint }: Call,
  toReply: (made: Made, now: Millis) => Reply | undefined,
): Once<Made> {
  return {
    scope,
    assertFirst(unit) {
      const known = unit.call(scope)
      // A retry looks up the stored answer first.
      if (known) {
        refuse(
          known.fingerprint === fingerprint ? 'idempotency_in_progress' : 'idempotency_mismatch',
        )
      }
    },
    note(unit, made, runId) {
      const reply = toReply(made, unit.now)
      const row = callRowOf({ replies, settings }, { scope, fingerprint }, reply, unit.now)
      unit.addCall({ ...row, runId: runId ?? null })
    },
  }
}
