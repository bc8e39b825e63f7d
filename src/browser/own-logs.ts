/** Asks this service, and other shards of it, whose keys may sign the log of a receipt. */
import type { ChainEvidence } from '../verify/check-anchor.ts'
import type { PagePayload } from '../verify/page-payload.ts'
import type { ReceiptFile } from '../verify/receipt.ts'

/** A log with those who may sign it. */
export type Log = { origin: string; signers: PagePayload['signers'] }

const shardHeader = 'x-counterfoil-shard'

/** Makes a file of which every section is hidden. @throws for a receipt that is none */
export type HideAll = () => ReceiptFile

/** The service gets no more than hashes. */
const ask = async (hideAll: HideAll, shard?: string): Promise<Response> => {
  const { disclosures: _, ...asked } = hideAll()
  return fetch('/verify/chain', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headerOf(shard) },
    body: JSON.stringify(asked),
  })
}

const headerOf = (shard: string | undefined): Record<string, string> =>
  shard === undefined ? {} : { [shardHeader]: shard }

/** Returns the state of the chain as this service reads it. */
export async function askChain(
  hideAll: HideAll,
  shard: string | undefined,
): Promise<ChainEvidence | undefined> {
  try {
    const { chain }: { chain?: ChainEvidence | null } = await (await ask(hideAll, shard)).json()
    return chain ?? undefined
  } catch {
    return undefined
  }
}

/**
 * The log of a receipt among those that this page knows; else that of the shard to which the
 * service sends the question. For a foreign one the newest of `logs`, which did not sign it.
 */
export async function findLog(
  logs: readonly Log[],
  issuer: string,
  hideAll: HideAll,
): Promise<{ log: Log | undefined; shard?: string }> {
  const known = logs.find(({ origin }) => origin === issuer)
  const newest = { log: known ?? logs.at(-1) }
  if (known || !logs.some(({ origin }) => serviceOf(origin) === serviceOf(issuer))) return newest
  try {
    const shard = (await ask(hideAll)).headers.get(shardHeader)
    const log = shard === null ? undefined : await logOfShard(shard, issuer)
    return shard !== null && log ? { log, shard } : newest
  } catch {
    return newest
  }
}

/** Shards and reopened logs have the origin of their service and a word behind it. */
const serviceOf = (origin: unknown): string | undefined =>
  typeof origin === 'string' ? origin.split('#', 1)[0] : undefined

type Range = { address: string; from_index: number; until_index: number | null }
type Signers = Omit<Range, 'until_index'> & {
  issuer: string
  previous: Range[]
  former_logs: { origin: string; signers: Range[] }[]
}

async function logOfShard(shard: string, issuer: string): Promise<Log | undefined> {
  const answer = await fetch('/v1/signer', { headers: headerOf(shard) })
  if (!answer.ok) return undefined
  const now: Signers = await answer.json()
  const current = [...now.previous, { ...now, until_index: null }]
  const all = [...now.former_logs, { origin: now.issuer, signers: current }]
  const found = all.find(({ origin }) => origin === issuer)
  return found && { origin: issuer, signers: found.signers.map(rangeOf) }
}

const rangeOf = ({ address, from_index: from, until_index: until }: Range) => ({
  address,
  from: String(from),
  until: until === null ? null : String(until),
})
