import {
  decodeErrorResult,
  decodeEventLog,
  decodeFunctionResult,
  encodeEventTopics,
  encodeFunctionData,
} from 'viem'
import { type BlockAt, type Chain, type ChainLog, ChainReverted } from '../../kernel/chain.ts'
import type { Hex } from '../../kernel/hex.ts'
import { toChecksumAddress } from '../../verify/address.ts'
import { registryLogId } from '../../verify/check-anchor.ts'
import { embedRegistryAbi } from './registry-abi.macro.ts' with { type: 'macro' }

/** The contract that keeps the heads of logs: contracts/AnchorRegistry.sol. */
export const registryAbi = embedRegistryAbi()

/** Who a log belongs to and where its heads are: from these three follows its id. */
export type LogName = { registry: string; owner: string; origin: string }

/** The newest head: no leaves and no root before the first anchor. */
export type Head = { size: number; root: Hex; count: number }

export async function readHead(
  chain: Pick<Chain, 'call'>,
  registry: string,
  id: Hex,
  at: BlockAt = 'latest',
): Promise<Head> {
  const call = { abi: registryAbi, functionName: 'head', args: [id] } as const
  const data = await ask(chain, registry, encodeFunctionData(call), at)
  const [size, root, count] = decoded(registry, () => decodeFunctionResult({ ...call, data }))
  return { size: leavesOf(registry, size), root, count }
}

/** Who may append to a log, EIP-55; undefined while nobody opened it. */
export async function readOwner(
  chain: Pick<Chain, 'call'>,
  registry: string,
  id: Hex,
  at: BlockAt = 'latest',
): Promise<string | undefined> {
  const call = { abi: registryAbi, functionName: 'logs', args: [id] } as const
  const data = await ask(chain, registry, encodeFunctionData(call), at)
  const [owner] = decoded(registry, () => decodeFunctionResult({ ...call, data }))
  return BigInt(owner) === 0n ? undefined : toChecksumAddress(owner)
}

/** The root that was anchored at a size; undefined for every other size. */
export async function readRoot(
  chain: Pick<Chain, 'call'>,
  registry: string,
  { id, size }: { id: Hex; size: bigint },
  at: BlockAt = 'latest',
): Promise<Hex | undefined> {
  const call = { abi: registryAbi, functionName: 'rootAt', args: [id, size] } as const
  const data = await ask(chain, registry, encodeFunctionData(call), at)
  const root = decoded(registry, () => decodeFunctionResult({ ...call, data }))
  return BigInt(root) === 0n ? undefined : root
}

/** The leaves that a key may sign: `from` ≤ index < `until`. */
export type SignerRange = { from: bigint; until: bigint }

/** `until` of a signer that is not retired. */
export const openEnd = 2n ** 64n - 1n

/** The range of a signer; undefined when it was never added to the log. */
export async function readSigner(
  chain: Pick<Chain, 'call'>,
  registry: string,
  { id, signer }: { id: Hex; signer: string },
  at: BlockAt = 'latest',
): Promise<SignerRange | undefined> {
  const args = [id, signer as Hex] as const
  const call = { abi: registryAbi, functionName: 'signers', args } as const
  const data = await ask(chain, registry, encodeFunctionData(call), at)
  const [from, until, added] = decoded(registry, () => decodeFunctionResult({ ...call, data }))
  return added ? { from, until } : undefined
}

/** What the chain says of a checkpoint and of who signed a leaf under it. */
export type ChainEvidence = {
  logId: Hex
  /** The root that is anchored at that size; undefined where none is. */
  latest: Hex | undefined
  /** The same in the newest final block: it stays there. */
  finalized: Hex | undefined
  /** Whether the signer may sign the leaf with that index. */
  signerAllowed: boolean
}

/**
 * Asks the chain what is anchored of a log. Registry and owner are the reader's, never a file's.
 * @throws ChainUnavailable, NoRegistry
 */
export async function readEvidence(
  chain: Pick<Chain, 'call'>,
  asked: LogName & { size: bigint; signer: string; index: bigint },
): Promise<ChainEvidence> {
  const { registry, owner, origin, size, signer, index } = asked
  const id = registryLogId(registry, owner, origin)
  const latest = await readRoot(chain, registry, { id, size })
  // In a final block the registry itself can be missing still.
  const finalized =
    latest === undefined
      ? undefined
      : await readRoot(chain, registry, { id, size }, 'finalized').catch(noneWithoutRegistry)
  const range = await readSigner(chain, registry, { id, signer })
  return {
    logId: id,
    latest,
    finalized,
    signerAllowed: range !== undefined && range.from <= index && index < range.until,
  }
}

/** Nothing at that address speaks as a registry: a wrong address, or one of another chain. */
export class NoRegistry extends Error {
  constructor(readonly address: string) {
    super(`there is no anchor registry at ${toChecksumAddress(address)}`)
  }
}

async function ask(
  chain: Pick<Chain, 'call'>,
  registry: string,
  data: Hex,
  at: BlockAt,
): Promise<Hex> {
  const answer = await chain.call(registry, data, at).catch((error: unknown) => {
    // Its readers never revert: whatever does is something else.
    throw error instanceof ChainReverted ? new NoRegistry(registry) : error
  })
  // Every answer is at least a word; an address without code answers nothing.
  if (answer.length < 66) throw new NoRegistry(registry)
  return answer
}

/** What an answer says. One that no registry gives is of something else at that address. */
function decoded<T>(registry: string, decode: () => T): T {
  try {
    return decode()
  } catch {
    throw new NoRegistry(registry)
  }
}

/** A count of leaves: what decodes an answer does not look how much its type holds. */
function leavesOf(registry: string, count: bigint): number {
  const leaves = Number(count)
  if (!Number.isSafeInteger(leaves)) throw new NoRegistry(registry)
  return leaves
}

function noneWithoutRegistry(error: unknown): undefined {
  if (!(error instanceof NoRegistry)) throw error
}

/** Calls that change a registry, by who owns the log. */
export const openCall = (origin: string, signer: string): Hex =>
  encodeFunctionData({ abi: registryAbi, functionName: 'open', args: [origin, signer as Hex] })

export const anchorCall = (
  id: Hex,
  head: { size: number; root: Hex },
  consistency: readonly Hex[],
): Hex =>
  encodeFunctionData({
    abi: registryAbi,
    functionName: 'anchor',
    args: [id, BigInt(head.size), head.root, consistency],
  })

export const addSignerCall = (id: Hex, signer: string, fromIndex: number): Hex =>
  encodeFunctionData({
    abi: registryAbi,
    functionName: 'addSigner',
    args: [id, signer as Hex, BigInt(fromIndex)],
  })

export const retireSignerCall = (id: Hex, signer: string, untilIndex: number): Hex =>
  encodeFunctionData({
    abi: registryAbi,
    functionName: 'retireSigner',
    args: [id, signer as Hex, BigInt(untilIndex)],
  })

/** The name of the error with which a registry refused; undefined for data of something else. */
export function registryErrorOf(data: Hex): string | undefined {
  try {
    return decodeErrorResult({ abi: registryAbi, data }).errorName
  } catch {
    return undefined
  }
}

/** An anchor as the registry announced it. */
export type Anchored = { size: number; root: Hex; previousSize: number; count: number }

/** The topics of the anchors of one log, or of one of its sizes. */
export function anchoredTopics(id: Hex, size?: bigint): (Hex | Hex[] | null)[] {
  const topics = encodeEventTopics({
    abi: registryAbi,
    eventName: 'Anchored',
    args: size === undefined ? { id } : { id, size },
  })
  return topics as (Hex | Hex[] | null)[]
}

/** Reads a log that `anchoredTopics` selected. `address` is the registry that it is of. */
export function readAnchored({
  address,
  topics,
  data,
}: Pick<ChainLog, 'address' | 'topics' | 'data'>): Anchored {
  const { args } = decoded(address, () =>
    decodeEventLog({
      abi: registryAbi,
      eventName: 'Anchored',
      topics: topics as [Hex, ...Hex[]],
      data,
    }),
  )
  const { size, root, last, n } = args
  const previousSize = leavesOf(address, last)
  return { size: leavesOf(address, size), root, previousSize, count: n }
}
