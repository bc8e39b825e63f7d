/** The audit's checks against the registry on the chain. */
import type { Chain } from '../../kernel/chain.ts'
import type { Hex } from '../../kernel/hex.ts'
import { registryLogId } from '../../verify/check-anchor.ts'
import { fail, type Outcome, pass, unavailable } from '../../verify/checks.ts'
import { openEnd, readHead, readOwner, readRoot, readSigner } from '../anchors/registry.ts'
import type { AnchorAnswer } from './answers.ts'
import { count, type ServiceView } from './service-view.ts'

/** The chain and registry that the auditor trusts. */
export type OnChain = {
  chain: Pick<Chain, 'call'>
  registry: string
  /** The wallet that opened the log there; defaults to the service's claim. */
  owner?: string
}

/** Every anchored root is in the registry. */
export async function checkRoots(on: OnChain, view: ServiceView): Promise<Outcome> {
  const id = idOf(on, view)
  if (!id) return noOwner
  for (const anchor of view.anchors) {
    const found = await readRoot(on.chain, on.registry, { id, size: BigInt(anchor.size) })
    if (found !== anchor.root) return differs(anchor, found)
  }
  const where = `The registry ${on.registry} has`
  const note = on.owner === undefined ? ` The owner ${view.owner} is only the service's claim.` : ''
  return pass(`${where} ${count(view.anchors.length, 'root')} of ${view.anchors.length}.${note}`)
}

/** Every root that the service calls final is in a final block. */
export async function checkFinal(on: OnChain, view: ServiceView): Promise<Outcome> {
  const id = idOf(on, view)
  if (!id) return noOwner
  const final = view.anchors.filter(({ status }) => status === 'final')
  for (const anchor of final) {
    const place = { id, size: BigInt(anchor.size) }
    const found = await readRoot(on.chain, on.registry, place, 'finalized')
    if (found !== anchor.root) return differs(anchor, found)
  }
  const waiting = view.anchors.length - final.length
  const rest = waiting === 0 ? '' : ` ${count(waiting, 'anchor')} not final yet.`
  return pass(`${count(final.length, 'root')} in a final block.${rest}`)
}

/** The registry has no anchor that the service does not list. */
export async function checkCount(on: OnChain, view: ServiceView): Promise<Outcome> {
  const id = idOf(on, view)
  if (!id) return noOwner
  const head = await readHead(on.chain, on.registry, id)
  const last = view.anchors.at(-1)
  if (head.count !== view.anchors.length) {
    const listed = `the service lists ${view.anchors.length}`
    return fail(`The registry counts ${count(head.count, 'anchor')}; ${listed}.`)
  }
  return head.size === (last?.size ?? 0)
    ? pass(`The registry counts ${count(head.count, 'anchor')}, as many as the service lists.`)
    : fail(`The registry's head is of size ${head.size}; the service says ${last?.size ?? 0}.`)
}

/** The registry lets the same keys sign the same ranges of the log. */
export async function checkSignersThere(on: OnChain, view: ServiceView): Promise<Outcome> {
  const id = idOf(on, view)
  if (!id) return noOwner
  if ((await readOwner(on.chain, on.registry, id)) === undefined) {
    return unavailable(`The log of ${view.origin} was not opened in this registry.`)
  }
  for (const { address, fromIndex, untilIndex } of view.signers) {
    const range = await readSigner(on.chain, on.registry, { id, signer: address })
    if (!range) return fail(`The registry does not know the signer ${address}.`)
    const until = untilIndex === null ? openEnd : BigInt(untilIndex)
    if (range.from === BigInt(fromIndex) && range.until === until) continue
    const there = `${range.from} to ${range.until === openEnd ? 'the end' : range.until}`
    const here = `${fromIndex} to ${untilIndex ?? 'the end'}`
    return fail(`The registry lets ${address} sign ${there}; the service says ${here}.`)
  }
  return pass(`The registry names the same ${count(view.signers.length, 'signer')} and ranges.`)
}

/** The log's id in the auditor's registry; undefined without an owner. */
function idOf({ registry, owner }: OnChain, view: ServiceView): Hex | undefined {
  const by = owner ?? view.owner
  return by === undefined ? undefined : registryLogId(registry, by, view.origin)
}

const noOwner = unavailable('The owner of the log on the chain is unknown. Add --owner 0x…')

const differs = ({ size, root }: AnchorAnswer, found: Hex | undefined): Outcome =>
  fail(`At size ${size}, expected the root ${root}; found ${found ?? 'none'} in the registry.`)
