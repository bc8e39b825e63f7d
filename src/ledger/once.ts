import type { Deps } from '../app/deps-port.ts'
import type { Millis } from '../kernel/clock.ts'
import { refuse } from '../kernel/refusal.ts'
import { type Call, callRowOf, type Reply } from '../storage/idempotency/call.ts'
import type { UnitOfWork } from './unit-of-work.ts'

/** A call as a command takes it that makes something of it. */
export type Once<Made> = {
  scope: string
  /**
   * Comes before anything is decided.
   * @throws Refusal `idempotency_mismatch`, `idempotency_in_progress`
   */
  assertFirst(unit: UnitOfWork): void
  /** Notes it beside what was made, with its answer if that is known already. */
  note(unit: UnitOfWork, made: Made, runId?: string): void
}

/** `toReply` gives the answer, or nothing where the end of a run will. */
export function onceOf<Made>(
  { replies, settings }: Pick<Deps, 'replies' | 'settings'>,
  { scope, fingerprint }: Call,
  toReply: (made: Made, now: Millis) => Reply | undefined,
): Once<Made> {
  return {
    scope,
    assertFirst(unit) {
      const known = unit.call(scope)
      // Whoever looks again finds the answer, if it is there by now.
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
