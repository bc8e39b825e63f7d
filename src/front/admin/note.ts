import type { Deps } from '../../app/deps-port.ts'
import type { Json } from '../../kernel/canonical.ts'

/** Writes into the audit what an admin did to the service itself. */
export const noteAction = (
  { admin, clock, ids }: Pick<Deps, 'admin' | 'clock' | 'ids'>,
  did: { actor: string; action: string; subject: string; detail: Record<string, Json> },
): Promise<void> =>
  admin.note({ id: ids.make('req'), at: clock.now(), accountId: did.actor, ...did })
