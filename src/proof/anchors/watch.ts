import type { Deps } from '../../app/deps-port.ts'
import { type Chain, ChainUnavailable } from '../../kernel/chain.ts'
import { fromHex, toHex } from '../../kernel/hex.ts'
import { hashOf, peaksOf } from '../log/tree.ts'
import type { Place } from './anchoring.ts'
import { type Head, NoRegistry, readHead } from './registry.ts'

type Needs = Pick<Deps, 'anchoring' | 'logs' | 'logStore' | 'health' | 'log'>

/** What a look at the chain found: the log there, and its newest head. */
export type Seen = { chain: Chain; place: Place; head: Head }

/**
 * Looks at the chain and writes down what came out, and whether the log there is still ours.
 * Undefined when the log is on no chain, or the chain does not answer: then nothing is known that
 * was not known before.
 */
export async function watchChain(deps: Needs): Promise<Seen | undefined> {
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
 * The head that the chain has of a log; undefined where the log is on no chain.
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

/** Writes a trouble of the chain down. @throws what is none. */
export function noteTrouble({ health, log }: Pick<Needs, 'health' | 'log'>, error: unknown) {
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
 * Whether the log begins with what is anchored of it. If not, this database is an old copy: every
 * receipt that it issued now would take the place of one that somebody has.
 */
async function guard({ logs, logStore, health, log }: Needs, head: Head): Promise<void> {
  // After the head: the log only grows.
  const size = await logStore.size()
  const fault = await faultOf({ logs, logStore }, head, size)
  if (fault !== undefined && health.log !== 'diverged') {
    const what = `the chain holds a head of ${head.size} leaves, but ${fault}`
    log.error('log.diverged', new Error(what))
  }
  health.log = fault === undefined ? 'ok' : 'diverged'
}

async function faultOf(
  { logs, logStore }: Pick<Needs, 'logs' | 'logStore'>,
  head: Head,
  size: number,
): Promise<string | undefined> {
  if (head.size === 0) return undefined
  if (head.size > size) return `the log has only ${size}`
  const range = { from: 0, to: head.size }
  const root = toHex(hashOf(range, await logStore.hashes(logs.current, peaksOf(range))))
  return root === head.root ? undefined : 'the log has another root there'
}
