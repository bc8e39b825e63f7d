/** Hears the notices of other nodes and finds out whether they get through. */
import { isHearing } from '../front/status/health.ts'
import { stopCancelled } from '../runs/cancel.ts'
import { stopForbidden } from '../runs/stop-forbidden.ts'
import type { Db } from '../storage/db/engine/db.ts'
import type { Notice } from '../storage/db/engine/notices.ts'
import { learnSlots } from './learn-slots.ts'
import type { Service } from './wiring.ts'

/**
 * Acts on what other nodes tell, and finds out whether that gets through: a pooler that shares
 * connections between transactions takes LISTEN without an error and delivers nothing. Each call
 * of the returned function tells this node an echo; the status says what came of the last ones.
 * Without notices the jobs find the same work, within a second.
 */
export function hearNotices(deps: Service, db: Db): () => Promise<void> {
  const { notices } = db
  if (!notices) return async () => {}
  const { health, clock, log, settings } = deps
  const echo: Notice = `echo ${settings.node}`
  const failed = (error: unknown) => log.error('database.listen_failed', error)
  const act = (notice: Notice): void => {
    if (notice === 'ended') deps.sequencer.hear()
    if (notice === 'log') void deps.heads.look().catch(failed)
    if (notice === 'slots') void learnSlots(deps, db).catch(failed)
    if (notice === 'cancel') void stopCancelled(deps).catch(failed)
    if (deps.keys.hear(notice)) void stopForbidden(deps).catch(failed)
  }
  notices
    .hear((notice) => {
      if (notice === echo) health.echoedAt = clock.monotonic()
      else act(notice)
    })
    .then(() => notices.tell(echo))
    .catch(failed)
  let wasHearing: boolean | undefined
  return async () => {
    await notices.tell(echo)
    const hears = isHearing(health, clock)
    // The first echo of a start may still be on its way.
    const isNew = wasHearing !== undefined && hears !== wasHearing
    if (!hears && (isNew || wasHearing === undefined)) log.warn('database.notices_lost', { advice })
    if (hears && isNew) log.info('database.notices_back')
    wasHearing = hears
  }
}

const advice =
  'LISTEN/NOTIFY does not get through, so receipts wait up to a second for their number: connect ' +
  'to PostgreSQL itself, or to a pooler in session mode'
