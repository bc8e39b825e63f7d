/** Pauses a key and all keys below it, and ends the pause. */
import type { Deps } from '../../app/deps-port.ts'
import { refuse } from '../../kernel/refusal.ts'
import type { KeyRow } from '../../storage/db/schema/schema.ts'
import { findKey, postForKey } from './command-key.ts'
import type { KeyCommand } from './key.ts'
import { noteKey } from './note.ts'

type Needs = Pick<Deps, 'ledger' | 'keys' | 'ids'>

/**
 * No hold is taken after the commit; runs in flight continue. Pausing twice changes nothing.
 * @throws Refusal `not_found`, `conflict` if it is revoked
 */
export const pauseKey = async (deps: Needs, command: KeyCommand): Promise<KeyRow> =>
  postForKey(deps, await findKey(deps, command.keyId), command, {
    isExempt: true,
    decide(unit, key) {
      if (key.pausedAt !== null) return
      key.pausedAt = unit.now
      unit.changed('key', key)
      noteKey(unit, deps.ids, key, { actor: command.actor, action: 'key.pause', detail: {} })
    },
  })

/**
 * The key and those below work again unless another key of their chain is paused; what it made is,
 * after a leak. Resuming a key that is not paused changes nothing.
 * @throws Refusal `not_found`, `conflict` if it is revoked, or leaked and not rotated since
 */
export const resumeKey = async (deps: Needs, command: KeyCommand): Promise<KeyRow> =>
  postForKey(deps, await findKey(deps, command.keyId), command, {
    isRepair: true,
    decide(unit, key) {
      if (key.pausedReason === 'leak') {
        refuse('conflict', 'Its secret may be known to others. Rotate it, then resume the key.')
      }
      if (key.pausedAt === null) return
      key.pausedAt = null
      key.pausedReason = null
      unit.changed('key', key)
      noteKey(unit, deps.ids, key, { actor: command.actor, action: 'key.resume', detail: {} })
    },
  })
