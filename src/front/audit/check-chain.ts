import type { Chain } from '../../kernel/chain.ts'
import type { Hex } from '../../kernel/hex.ts'
import { openEnd, readHead, readOwner, readRoot, readSigner } from '../../proof/anchors/registry.ts'
import { registryLogId } from '../../verify/check-anchor.ts'
import { fail, type Outcome, pass, unavailable } from '../../verify/checks.ts'
import type { AnchorAnswer } from './answers.ts'
import { count, type Told } from './service-view.ts'

/** Whom the auditor asks about the chain, by their own choice. */
export type OnChain = {
  chain: Pick<Chain, 'call'>
  registry: string
  /** Who opened the log there; the service says it where the auditor does not. */
  owner?: string
}

/** Every anchored root is in the registry. */
export async function checkRoots(on: OnChain, told: Told): Promise<Outcome> {
  const id = idOf(on, told)
  if (!id) return noOwner
  for (const anchor of told.anchors) {
    const found = await readRoot(on.chain, on.registry, { id, size: BigInt(anchor.size) })
    if (found !== anchor.root) return differs(anchor, found)
  }
  const where = `The registry ${on.registry} has`
  const note =
    on.owner === undefined ? ` Its owner ${told.owner} is the one the service names.` : ''
  return pass(`${where} ${count(told.anchors.length, 'root')} of ${told.anchors.length}.${note}`)
}

/** Every root that the service calls final is in a final block. */
export async function checkFinal(on: OnChain, told: Told): Promise<Outcome> {
  const id = idOf(on, told)
  if (!id) return noOwner
  const final = told.anchors.filter(({ status }) => status === 'final')
  for (const anchor of final) {
    const place = { id, size: BigInt(anchor.size) }
    const found = await readRoot(on.chain, on.registry, place, 'finalized')
    if (found !== anchor.root) return differs(anchor, found)
  }
  const waiting = told.anchors.length - final.length
  const rest = waiting === 0 ? '' : ` ${count(waiting, 'anchor')} more not yet.`
  return pass(`${count(final.length, 'root')} in a final block.${rest}`)
}

/** The registry knows of no anchor that the service does not list. */
export async function checkCount(on: OnChain, told: Told): Promise<Outcome> {
  const id = idOf(on, told)
  if (!id) return noOwner
  const head = await readHead(on.chain, on.registry, id)
  const last = told.anchors.at(-1)
  if (head.count !== told.anchors.length) {
    const listed = `the service lists ${told.anchors.length}`
    return fail(`The registry counts ${count(head.count, 'anchor')}; ${listed}.`)
  }
  return head.size === (last?.size ?? 0)
    ? pass(`The registry counts ${count(head.count, 'anchor')}, as many as the service lists.`)
    : fail(`The registry's head is of size ${head.size}; the service says ${last?.size ?? 0}.`)
}

/** The registry lets the same keys sign the same parts of the log. */
export async function checkSignersThere(on: OnChain, told: Told): Promise<Outcome> {
  const id = idOf(on, told)
  if (!id) return noOwner
  if ((await readOwner(on.chain, on.registry, id)) === undefined) {
    return unavailable(`The log of ${told.origin} was not opened in this registry.`)
  }
  for (const { address, fromIndex, untilIndex } of told.signers) {
    const range = await readSigner(on.chain, on.registry, { id, signer: address })
    if (!range) return fail(`The registry does not know the signer ${address}.`)
    const until = untilIndex === null ? openEnd : BigInt(untilIndex)
    if (range.from === BigInt(fromIndex) && range.until === until) continue
    const there = `${range.from} to ${range.until === openEnd ? 'the end' : range.until}`
    const here = `${fromIndex} to ${untilIndex ?? 'the end'}`
    return fail(`The registry lets ${address} sign ${there}; the service says ${here}.`)
  }
  return pass(`The registry names the same ${count(told.signers.length, 'signer')} and ranges.`)
}

/** The log's id in the auditor's registry; undefined when nobody says who opened it. */
function idOf({ registry, owner }: OnChain, told: Told): Hex | undefined {
  const by = owner ?? told.owner
  return by === undefined ? undefined : registryLogId(registry, by, told.origin)
}

const noOwner = unavailable('Nobody says who opened the log on the chain. Name it: --owner 0x…')

const differs = ({ size, root }: AnchorAnswer, found: Hex | undefined): Outcome =>
  fail(`At size ${size}, expected the root ${root}; found ${found ?? 'none'} in the registry.`)
