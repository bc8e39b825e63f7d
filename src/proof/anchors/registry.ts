/** Encodes calls to the anchor registry (contracts/AnchorRegistry.sol) and reads its answers. */
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

export const registryAbi = embedRegistryAbi()

/** The three values that determine a log's id in a registry. */
export type LogName = { registry: string; owner: string; origin: string }

/** The newest head; size 0 before the first anchor. */
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

/** The address that may append to a log, EIP-55; undefined before it is opened. */
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

/** The root anchored at a size; undefined if none is. */
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

/** The leaves a key may sign: `from` ≤ index < `until`. */
export type SignerRange = { from: bigint; until: bigint }

/** The `until` of a signer that is not retired. */
export const openEnd = 2n ** 64n - 1n

/** The range of a signer; undefined if it was never added to the log. */
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

/** The chain's data on a checkpoint and on the signer of a leaf under it. */
export type ChainEvidence = {
  logId: Hex
  /** The root anchored at that size, if any. */
  latest: Hex | undefined
  /** The root in the newest final block, which no reorg can remove. */
  finalized: Hex | undefined
  /** Whether the signer may sign the leaf. */
  signerAllowed: boolean
}

/**
 * Reads what is anchored of a log. Registry and owner come from the reader, never from a file.
 * @throws ChainUnavailable, NoRegistry
 */
export async function readEvidence(
  chain: Pick<Chain, 'call'>,
  asked: LogName & { size: bigint; signer: string; index: bigint },
): Promise<ChainEvidence> {
  const { registry, owner, origin, size, signer, index } = asked
  const id = registryLogId(registry, owner, origin)
  const latest = await readRoot(chain, registry, { id, size })
  // The registry itself may be missing from the final block.
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

/** The address holds no anchor registry: it is wrong or belongs to another chain. */
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
    // Read functions of a registry never revert, so this is another contract.
    throw error instanceof ChainReverted ? new NoRegistry(registry) : error
  })
  // Every answer has at least 32 bytes; an address without code returns none.
  if (answer.length < 66) throw new NoRegistry(registry)
  return answer
}

/** @throws NoRegistry if no registry could give this answer. */
function decoded<T>(registry: string, decode: () => T): T {
  try {
    return decode()
  } catch {
    throw new NoRegistry(registry)
  }
}

/** Checks a count of leaves: the decoder does not check the range of the type. */
function leavesOf(registry: string, count: bigint): number {
  const leaves = Number(count)
  if (!Number.isSafeInteger(leaves)) throw new NoRegistry(registry)
  return leaves
}

function noneWithoutRegistry(error: unknown): undefined {
  if (!(error instanceof NoRegistry)) throw error
}

/** Calls that change a registry; only the owner of the log may send them. */
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

/** The name of the registry's revert error; undefined for other data. */
export function registryErrorOf(data: Hex): string | undefined {
  try {
    return decodeErrorResult({ abi: registryAbi, data }).errorName
  } catch {
    return undefined
  }
}

/** An anchor from the registry's event. */
export type RegistryAnchor = { size: number; root: Hex; previousSize: number; count: number }

/** The event topics of a log's anchors, or of the anchor at one size. */
export function anchoredTopics(id: Hex, size?: bigint): (Hex | Hex[] | null)[] {
  const topics = encodeEventTopics({
    abi: registryAbi,
    eventName: 'Anchored',
    args: size === undefined ? { id } : { id, size },
  })
  return topics as (Hex | Hex[] | null)[]
}

/** Reads an event that `anchoredTopics` selected; `address` is its registry. */
export function readAnchored({
  address,
  topics,
  data,
}: Pick<ChainLog, 'address' | 'topics' | 'data'>): RegistryAnchor {
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
