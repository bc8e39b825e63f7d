/** Judges a service after a failure of its database: every rule must hold again. */
import { receiptIdOf } from '../../src/proof/receipts/receipt.ts'
import { faultsIn, untilNumbered } from '../../test/binary/nodes.ts'
import { type Claim, findingsOf, verdictOf } from '../../test/support/judges.ts'
import type { Wish } from './clients.ts'
import { type SeenHead, strangersTo } from './heads.ts'
import type { Node } from './nodes.ts'
import type { PgServer } from './postgres-server.ts'

/** Receipts that are fetched and verified, at most; spread over all. */
const mostReceipts = 100

/** The money and the log of a database are whole, and no run is open or without a leaf. */
export async function judgeDatabase(server: PgServer, claim: Claim): Promise<void> {
  const sql = new Bun.SQL({ url: server.url, max: 1 })
  try {
    await untilNumbered({ database: { url: server.url, sql } }, 30_000)
    for (const fault of await faultsIn({ database: { url: server.url, sql } })) claim(false, fault)
  } finally {
    await sql.close()
  }
}

/** Each acknowledged run is stored once, at the cost and with the receipt its client was told. */
export async function judgeAcknowledged(
  server: PgServer,
  wishes: readonly Wish[],
  claim: Claim,
  /** Runs beside `wishes` that cost something. */
  others = 0,
): Promise<void> {
  type Stored = { id: string; cost: string }
  const rows = await server.ask<Stored>('select id, cost from runs')
  const stored = new Map(rows.map((row) => [row.id, row]))
  const paid = wishes.flatMap((wish) => wish.paid ?? [])
  for (const { runId, receiptId, cost } of paid) {
    const run = stored.get(runId)
    claim(run !== undefined, `${runId} was acknowledged and is lost`)
    claim(receiptIdOf(runId) === receiptId, `${runId} was told the receipt ${receiptId}`)
    claim(!run || Number(run.cost) === cost, `${runId} cost ${cost}, then ${run?.cost}`)
  }
  const charged = rows.filter(({ cost }) => Number(cost) > 0).length - others
  const wanted = wishes.filter((wish) => wish.paid).length
  claim(new Set(paid.map(({ runId }) => runId)).size === wanted, 'a run was acknowledged twice')
  const open = wishes.length - wanted
  claim(
    charged >= wanted && charged <= wanted + open,
    `${wanted} runs were acknowledged and ${open} not, but ${charged} were charged`,
  )
}

/** Every head that a node ever gave away is one of this log. */
export function judgeHeads(
  roots: readonly string[],
  heads: readonly SeenHead[],
  claim: Claim,
  log = 'the log',
): void {
  for (const { size, node, root } of strangersTo(roots, heads)) {
    claim(false, `${node} signed ${root} at ${size} leaves, which is not a head of ${log}`)
  }
}

export type Proven = { proven: number; lost: string[] }

/**
 * Fetches acknowledged receipts with their proofs and verifies them.
 * @param mayBeLost whether a 404 is a loss to be counted rather than a fault.
 */
export async function judgeReceipts(
  node: Node,
  { secret, wishes }: { secret: string; wishes: readonly Wish[] },
  claim: Claim,
  { mayBeLost = false } = {},
): Promise<Proven> {
  const paid = wishes.flatMap((wish) => wish.paid ?? [])
  const step = Math.max(1, Math.floor(paid.length / mostReceipts))
  // The newest are those that a failover endangers: all of them, and a part of the rest.
  const chosen = paid.filter((_, i) => i % step === 0 || i >= paid.length - mostReceipts)
  const found: Proven = { proven: 0, lost: [] }
  for (const { receiptId } of chosen) {
    const answer = await node.server.call(`/v1/receipts/${receiptId}`, { key: secret })
    if (answer.status === 404 && mayBeLost) {
      found.lost.push(receiptId)
      continue
    }
    const file = await answer.json()
    if (answer.status !== 200) {
      claim(false, `the receipt ${receiptId} is ${answer.status}: ${file.error?.message}`)
      continue
    }
    const proof = await node.server.call(`/v1/receipts/${receiptId}/proof`)
    const json = proof.status === 200 ? { ...file, proof: await proof.json() } : file
    const verdict = await verdictOf(node.server, json)
    const isProven = verdict.valid && verdict.level !== 'signed'
    if (isProven) found.proven++
    const failed = verdict.checks?.find(({ status }) => status === 'fail')
    claim(
      isProven,
      `${receiptId} is not proven (${proof.status}): ${failed?.name ?? verdict.level}`,
    )
  }
  return found
}

/** What `doctor` says of a part, on the machine of a node. */
export const askDoctor = async ({ home }: Pick<Node, 'home'>, part: string) =>
  (await findingsOf(home)).find((finding) => finding.part === part)
