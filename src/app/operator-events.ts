/** Sends the operator events about the service, once for all nodes. */

import { marginOf, marginsOf } from '../billing/margins/margins.ts'
import { dayMs, dayOf } from '../billing/usage/usage.ts'
import type { Trouble } from '../billing/webhooks/trouble.ts'
import { type Millis, toRfc3339 } from '../kernel/clock.ts'
import { toJsonInteger } from '../kernel/money.ts'
import type { Upstream } from '../models/upstream/upstream.ts'
import { isLate } from '../proof/anchors/anchor.ts'
import { readAnchored } from '../proof/anchors/anchor-status.ts'
import { isDiverged } from '../proof/log/divergence.ts'
import { isFailing } from '../runs/circuit.ts'
import type { Deps } from './deps-port.ts'

/** How often troubles in the database are looked for, in ms. */
const readEveryMs = 60_000

type Needs = Pick<
  Deps,
  | 'anchors'
  | 'anchoring'
  | 'checkpoints'
  | 'clock'
  | 'health'
  | 'logs'
  | 'margins'
  | 'troubles'
  | 'upstreams'
>

/**
 * A job. Each node compares its troubles in memory, and writes to the database only when one
 * changes. Nodes agree there: an event goes out when the first node sees a trouble, and when the
 * last one does no more. Troubles read from the database look the same to all nodes.
 */
export function operatorTeller(deps: Needs): () => Promise<void> {
  const { clock, troubles } = deps
  /** The troubles that this node has reported. */
  const told = new Map<string, Trouble>()
  let readAt = Number.NEGATIVE_INFINITY

  /** Ends the trouble of an upstream or model that was removed, or ran nothing today. */
  const goneOf = (found: readonly Trouble[], isReading: boolean): Trouble[] =>
    [...told.values()]
      .filter(({ name }) => !found.some((one) => one.name === name))
      .filter(
        ({ name }) => name.startsWith('upstream:') || (isReading && name.startsWith('margin:')),
      )
      .map((one) => ({ ...one, isThere: false }))

  return async () => {
    const isReading = clock.monotonic() - readAt >= readEveryMs
    const found = [...seenByNode(deps), ...(isReading ? await readTroubles(deps) : [])]
    if (isReading) readAt = clock.monotonic()
    for (const one of [...found, ...goneOf(found, isReading)]) {
      // Repeats lasting troubles now and then: other nodes may have taken this one for dead.
      if (told.has(one.name) === one.isThere && !(isReading && one.isThere)) continue
      await troubles.note(one, clock.now())
      if (one.isThere) told.set(one.name, one)
      else told.delete(one.name)
    }
    if (isReading) await troubles.forgetDead(clock.now())
  }
}

/** The troubles in the health of this process. A pending check changes nothing. */
function seenByNode({ health, upstreams }: Needs): Trouble[] {
  const failing = upstreams.list().flatMap((upstream): Trouble[] => {
    const { id, breaker, fault } = upstream
    if (!breaker && !fault) return []
    const denied = fault?.()
    const data = {
      upstream: id,
      reason: denied ? 'denied' : 'failing',
      ...(denied?.status === undefined ? {} : { status: denied.status }),
    }
    const whole = {
      name: `upstream:${id}`,
      isThere: isFailing(upstream),
      ...types,
      subject: id,
      data,
    }
    return [whole, ...refusedKeys(upstream)]
  })
  const ledger: Trouble = {
    name: 'ledger',
    isThere: health.ledger === 'unbalanced',
    began: 'ledger.unbalanced',
    subject: 'ledger',
    data: { faults: health.ledgerFaults },
  }
  const log: Trouble = {
    name: 'log',
    isThere: isDiverged(health) || health.logDamage !== null,
    began: 'log.diverged',
    subject: 'log',
    data: {
      known: health.heads === 'diverged',
      anchored: health.log === 'diverged',
      damaged_leaf: health.logDamage?.leaf ?? null,
    },
  }
  return [
    ...failing,
    ...(health.ledger === 'checking' ? [] : [ledger]),
    ...(health.heads === 'unchecked' && !log.isThere ? [] : [log]),
  ]
}

const types = { began: 'upstream.opened', ended: 'upstream.closed' } as const

/** The keys of an upstream that it does not take, although others may serve. */
const refusedKeys = ({ id, keys }: Upstream): Trouble[] =>
  (keys?.() ?? []).map(({ name: key, fault }) => ({
    name: `upstream:${id}:${key}`,
    isThere: fault !== undefined,
    ...types,
    subject: id,
    data: {
      upstream: id,
      reason: 'denied',
      key,
      ...(fault?.status === undefined ? {} : { status: fault.status }),
    },
  }))

async function readTroubles(deps: Needs): Promise<Trouble[]> {
  const now = deps.clock.now()
  return [
    await anchorTrouble(deps, now),
    ...(await marginTroubles(deps, now)),
    ...(await backupTrouble(deps, now)),
  ]
}

async function anchorTrouble(deps: Needs, now: Millis): Promise<Trouble> {
  const { oldest, isOn, size } = await readAnchored(deps)
  return {
    name: 'anchor',
    isThere: isOn && isLate(oldest, deps.anchoring.policy, now),
    began: 'anchor.stuck',
    subject: 'anchor',
    data: {
      anchored_size: size,
      oldest_unanchored_at: oldest === undefined ? null : toRfc3339(oldest),
      reason: deps.health.anchors.trouble,
    },
  }
}

/** Sums each model over the day (UTC) so far. */
async function marginTroubles(deps: Needs, now: Millis): Promise<Trouble[]> {
  const from = dayOf(now)
  const { rows } = await marginsOf(deps, { from, to: from + dayMs, by: 'model' })
  return rows.map((row) => ({
    name: `margin:${row.name}`,
    isThere: marginOf(row) < 0n,
    began: 'margin.negative',
    subject: `margin:${row.name}`,
    data: {
      model: row.name,
      day: toRfc3339(from).slice(0, 10),
      runs: row.runs,
      revenue_nusd: toJsonInteger(row.revenue),
      cost_nusd: toJsonInteger(row.cost),
    },
  }))
}

/** Undefined before the first backup: `doctor` reports that there is none. */
async function backupTrouble({ troubles }: Needs, now: Millis): Promise<Trouble[]> {
  const newest = await troubles.newestBackup(now)
  if (newest === undefined) return []
  const { takenAt, isStale: isThere } = newest
  const data = { newest_backup_at: takenAt }
  return [{ name: 'backup', isThere, began: 'backup.stale', subject: 'backup', data }]
}
