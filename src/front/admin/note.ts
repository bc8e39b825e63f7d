/** Records an admin's action on the service itself in the audit log. */
import type { Deps } from '../../app/deps-port.ts'
import type { Json } from '../../kernel/canonical.ts'

export const noteAction = (
  { admin, clock, ids }: Pick<Deps, 'admin' | 'clock' | 'ids'>,
  did: { actor: string; action: string; subject: string; detail: Record<string, Json> },
): Promise<void> =>
  admin.note({ id: ids.make('req'), at: clock.now(), accountId: did.actor, ...did })
