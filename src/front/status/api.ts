/** GET /v1/status, /livez and /readyz. */
import { Elysia } from 'elysia'
import type { Deps } from '../../app/deps-port.ts'
import { depositStatus } from '../../billing/deposits/deposit-status.ts'
import { refuse } from '../../kernel/refusal.ts'
import { wrongClock } from '../../kernel/skew.ts'
import { within } from '../../kernel/within.ts'
import {
  type Anchored,
  anchorStatusOf,
  chainStatus,
  readAnchored,
} from '../../proof/anchors/anchor-status.ts'
import { logState } from '../../proof/log/divergence.ts'
import {
  type NewestSigned,
  readNewestSigned,
  witnessStatus,
} from '../../proof/log/witness-status.ts'
import { isFailing, isUnserved } from '../../runs/circuit.ts'
import type { SlotMoveRow } from '../../storage/db/schema/schema.ts'
import { slotsText } from '../../storage/slots/slot-text.ts'
import { jsonText } from '../../web/http/json-text.ts'
import { openToAnyOrigin } from '../../web/http/methods.ts'
import { clockStatus } from './clock.ts'
import { isHearing, probeMs } from './health.ts'
import { foreignSchema } from './schema.ts'
import type { StatusAnswer } from './shapes.ts'

/** `GET /v1/status`, and the two questions of a supervisor: alive, and ready for traffic. */
export const statusApi = (deps: Deps) =>
  new Elysia({ name: 'status-api' })
    .get('/v1/status', ({ set }) => jsonText(set, statusText(deps)), openToAnyOrigin)
    .get('/livez', () => ({ status: 'ok' }))
    .get('/readyz', async () => {
      if (deps.health.stopping) refuseNow('stopping', 'The server is stopping.')
      const trouble = deps.status.trouble()
      if (trouble) throw trouble.toRefusal()
      if (!(await deps.status.ping())) refuseNow('database', 'The database does not answer.')
      const wrong = wrongClock(deps.leaseClock.aheadMs())
      if (wrong) throw wrong
      const foreign = foreignSchema(deps.health)
      if (foreign) throw foreign
      deps.heads.assertOpen()
      return { status: 'ok' }
    })

/** The answer to a supervisor while no traffic is taken. */
const refuseNow = (reason: 'stopping' | 'database', message: string): never =>
  refuse('unavailable', { message, metadata: { reason } })

/** A part that is off says `disabled`; nothing pretends. */
export const statusOf = async (deps: Deps) =>
  viewOf(deps, await readStored(deps).catch(() => undefined))

/** The same as text; what is stored is read again only after something was written. */
function statusText(deps: Deps): string | Promise<string> {
  const text = (stored: StoredFacts | undefined) => JSON.stringify(viewOf(deps, stored))
  const stored = deps.readCache('status', () => readStored(deps))
  return stored instanceof Promise ? stored.then(text, () => text(undefined)) : text(stored)
}

function viewOf(deps: Deps, stored: StoredFacts | undefined): StatusAnswer {
  const { status, health, clock, catalogue, upstreams, version } = deps
  const onChain = stored && anchorStatusOf(deps, stored.anchored)
  const live = catalogue.list().filter((model) => model.status === 'live')
  const resting = live.filter((model) => isUnserved(upstreams, model))
  const deposits = depositStatus(deps)
  const isWell = onChain && !onChain.isDegraded && deposits.status !== 'degraded'
  const isStoring = status.trouble() === undefined
  const ofClock = clockStatus(deps)
  const isRight = ofClock.status === 'ok'
  const isWhole =
    health.ledger !== 'unbalanced' &&
    logState(health) === 'ok' &&
    health.logDamage === null &&
    health.schema !== 'foreign'
  const failing = upstreams.list().filter(isFailing).length
  const isStrained = failing > 0 || health.connections === 'few' || health.stalledMoves.length > 0
  const isDegraded = !isWell || !isStoring || !isRight || !isWhole || isStrained
  const takes = isStoring ? 'ok' : 'read_only'
  return {
    object: 'status',
    status: isDegraded ? 'degraded' : 'ok',
    version: version.version,
    commit: version.commit,
    ...(deps.shard && {
      shard: deps.shard.id,
      moves: movesIn(deps, deps.shard.id, stored?.moves ?? []),
    }),
    uptime_s: Math.floor((clock.monotonic() - health.startedAt) / 1000),
    chain: chainStatus(deps),
    log: {
      size: stored?.size ?? null,
      status: logState(health),
      ...(health.logDamage && { damaged_leaf: health.logDamage.leaf }),
      ...(onChain?.log ?? { anchored_size: null, oldest_unanchored_s: null }),
    },
    ledger: health.ledger,
    models: { live: live.length, degraded: resting.length, failing_upstreams: failing },
    clock: ofClock,
    database: {
      ...status.database,
      status: stored ? takes : 'down',
      migrated: health.schema,
      ...(status.database.engine === 'postgres' && {
        connections: health.connections,
        notices: isHearing(health, clock) ? ('listening' as const) : ('polling' as const),
      }),
    },
    anchors: onChain?.anchors ?? { status: 'unchecked', lag_s: null },
    witnesses: witnessStatus(deps.witnesses, stored?.signed ?? []),
    deposits,
    features: { chat: true, embeddings: true, runs: true, receipts: true },
  }
}

/** Moves without their sums: what a slot is worth is not public. */
const movesIn = ({ health }: Deps, shard: string, moves: readonly SlotMoveRow[]) =>
  moves.map(({ id, way, peer, slots, state, digest }) => {
    const [from, to] = way === 'out' ? [shard, peer] : [peer, shard]
    const stalled = health.stalledMoves.includes(id)
    return { id, slots: slotsText(slots), from, to, state, digest, stalled }
  })

type StoredFacts = {
  size: number
  anchored: Anchored
  signed: NewestSigned[]
  moves: SlotMoveRow[]
}

/** @throws Error when the database does not answer in time. */
async function readStored(deps: Deps): Promise<StoredFacts> {
  const reads = [
    deps.logStore.size(),
    readAnchored(deps),
    readNewestSigned(deps),
    deps.shard ? deps.status.moves() : [],
  ] as const
  const stored = await within(probeMs, Promise.all(reads))
  if (!stored) throw new Error('the database does not answer in time')
  return { size: stored[0], anchored: stored[1], signed: stored[2], moves: stored[3] }
}
