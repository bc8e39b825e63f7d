/** Liabilities statements, as they are shown, and the proof that one counts an account. */
import type { Deps } from '../../app/deps-port.ts'
import { toHex } from '../../kernel/hex.ts'
import { refuse } from '../../kernel/refusal.ts'
import type { LiabilitiesRow } from '../../storage/db/schema/schema.ts'
import {
  findLeaf,
  idOf,
  leafNodes,
  nonceOf,
  partLeaves,
  partWith,
  pathOver,
  readHeads,
} from '../../storage/liabilities/leaves.ts'
import { toChecksumAddress } from '../../verify/address.ts'
import type { LiabilitiesFile, OwnLeaf } from '../../verify/liabilities.ts'
import { checkpointOver, toCheckpointView } from '../log/checkpoint.ts'
import { logOf } from '../log/logs.ts'
import { type ProofDeps, pathTo } from '../log/proof.ts'
import type { LiabilitiesItem } from './shapes.ts'

export type LiabilityDeps = ProofDeps & Pick<Deps, 'liabilities'>

/** A statement in the list of them. */
export const toItem = (
  { logs }: Pick<Deps, 'logs'>,
  { number, statement, digest, signature, logPlace }: LiabilitiesRow,
): LiabilitiesItem => ({
  id: String(number),
  object: 'liabilities',
  statement,
  digest,
  signature: toHex(signature),
  log_index: logPlace - logOf(logs, statement.issuer).start,
})

/** A statement as a file, with its place in the log. @throws Refusal `log_diverged` */
export async function fileOf(
  deps: ProofDeps,
  { statement, signature, logPlace }: LiabilitiesRow,
): Promise<LiabilitiesFile> {
  const log = logOf(deps.logs, statement.issuer)
  const index = logPlace - log.start
  const head = await checkpointOver(deps, log, index)
  const path = await pathTo(deps, log, index, head)
  return {
    type: 'counterfoil.liabilities',
    version: '1',
    statement,
    signature: toHex(signature),
    log: { index: String(index), path, checkpoint: toCheckpointView(head) },
  }
}

/**
 * The file of an account: the newest statement, or that of a number.
 * @throws Refusal `not_found`, `gone`, `log_diverged`
 */
export async function ownFile(
  deps: LiabilityDeps,
  account: string,
  number?: number,
): Promise<LiabilitiesFile> {
  const { liabilities } = deps
  const row = await (number === undefined ? liabilities.newest() : liabilities.find(number))
  if (!row) {
    const none = 'No liabilities statement has been published yet. GET /liabilities lists them.'
    return refuse('not_found', number === undefined ? none : 'There is no such statement.')
  }
  const own = await ownLeafOf(deps, row, account)
  return { ...(await fileOf(deps, row)), own }
}

/** @throws Refusal `gone`, `not_found` for an account that came later */
async function ownLeafOf(
  { liabilities }: LiabilityDeps,
  { number, seed }: LiabilitiesRow,
  account: string,
): Promise<OwnLeaf> {
  const top = seed && (await liabilities.part(number, 0))
  if (!seed || !top) return refuse('gone', tooOld)
  const heads = readHeads(top)
  const id = idOf(seed, account)
  const place = partWith(heads, id)
  const part = await liabilities.part(number, place + 1)
  if (!part) return refuse('gone', tooOld)
  const leaf = findLeaf(part, id)
  if (!leaf) {
    return refuse('not_found', `Statement ${number} is older than this account. Wait for the next.`)
  }
  const { index, amount } = leaf
  const nodes = heads.map(({ node }) => node)
  const path = [...pathOver(leafNodes(part), index), ...pathOver(nodes, place)]
  return {
    account: toChecksumAddress(account),
    balance_nusd: String(amount),
    nonce: toHex(nonceOf(seed, account)),
    index: String(place * partLeaves + index),
    path: path.map(({ hash, sum }) => ({ hash: toHex(hash), sum_nusd: String(sum) })),
  }
}

const tooOld = 'The leaves of this statement were deleted. Its total stays: GET /liabilities.'
