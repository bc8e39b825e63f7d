/** Looks at the chain and checks that the anchored head is still a head of our log. */
import type { Deps } from '../../app/deps-port.ts'
import { type Chain, ChainUnavailable } from '../../kernel/chain.ts'
import { fromHex, toHex } from '../../kernel/hex.ts'
import { hashOf, peaksOf } from '../log/tree.ts'
import type { Place } from './anchoring.ts'
import { type Head, NoRegistry, readHead } from './registry.ts'

type WatchDeps = Pick<Deps, 'anchoring' | 'logs' | 'logStore' | 'health' | 'log'>

/** The log on the chain and its newest head. */
export type ChainSighting = { chain: Chain; place: Place; head: Head }

/**
 * Records the result in the health. Undefined if the log is not on a chain or the chain does not
 * answer.
 */
export async function watchChain(deps: WatchDeps): Promise<ChainSighting | undefined> {
  const { anchoring, health, logs } = deps
  const { chain } = anchoring
  if (!chain) return undefined
  try {
    const block = await chain.block('latest')
    health.chain = { head: block.number, headAt: block.timestampMs, trouble: null }
    const place = await anchoring.placeOf(logs.current.origin)
    if (!place) return undefined
    const head = await readHead(chain, place.registry, place.id)
    await guard(deps, head)
    if (health.anchors.trouble === 'no_registry') health.anchors.trouble = null
    return { chain, place, head }
  } catch (error) {
    return noteTrouble(deps, error)
  }
}

/**
 * The newest anchored head of a log; undefined if it has none.
 * @throws ChainUnavailable, NoRegistry
 */
export async function headOnChain(
  { anchoring }: Pick<Deps, 'anchoring'>,
  origin: string,
): Promise<{ size: number; root: Uint8Array } | undefined> {
  const place = anchoring.chain && (await anchoring.placeOf(origin))
  if (!place || !anchoring.chain) return undefined
  const { size, root } = await readHead(anchoring.chain, place.registry, place.id)
  return size === 0 ? undefined : { size, root: fromHex(root) }
}

/** Records a failure of the chain in the health. @throws any other error. */
export function noteTrouble({ health, log }: Pick<Deps, 'health' | 'log'>, error: unknown) {
  if (error instanceof ChainUnavailable) {
    if (error.reason === 'closed') return undefined
    if (health.chain.trouble === null) log.warn('chain.unavailable', { reason: error.reason })
    health.chain = { ...health.chain, trouble: error.reason }
    return undefined
  }
  if (!(error instanceof NoRegistry)) throw error
  if (health.anchors.trouble !== 'no_registry') log.error('anchors.no_registry', error)
  health.anchors.trouble = 'no_registry'
  return undefined
}

/**
 * Checks that the log begins with the anchored head. If not, the database is an old copy, and new
 * receipts would take the places of receipts already issued.
 */
async function guard({ logs, logStore, health, log }: WatchDeps, head: Head): Promise<void> {
  // Read after the head, because the log only grows.
  const size = await logStore.size()
  const fault = await faultOf({ logs, logStore }, head, size)
  if (fault !== undefined && health.log !== 'diverged') {
    const what = `the chain holds a head of ${head.size} leaves, but ${fault}`
    log.error('log.diverged', new Error(what))
  }
  health.log = fault === undefined ? 'ok' : 'diverged'
}

async function faultOf(
  { logs, logStore }: Pick<Deps, 'logs' | 'logStore'>,
  head: Head,
  size: number,
): Promise<string | undefined> {
  if (head.size === 0) return undefined
  if (head.size > size) return `the log has only ${size}`
  const range = { from: 0, to: head.size }
  const root = toHex(hashOf(range, await logStore.hashes(logs.current, peaksOf(range))))
  return root === head.root ? undefined : 'the log has another root there'
}
