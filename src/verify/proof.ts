/** Reads proofs, checkpoints and consistency paths strictly. */
import { type Hex, toHex } from '../kernel/hex.ts'
import { parseTime } from '../kernel/time-text.ts'
import { keccak256 } from './keccak.ts'
import { isObject, type Problem, readMember, readStruct, refuseOthers, say } from './receipt.ts'
import { domain } from './receipt-structs.ts'

/** The signed root of a log at a size. Integers are decimal text, as in a receipt. */
export type Checkpoint = {
  /** The log's origin, which is the issuer of its receipts. */
  issuer: string
  size: string
  root: Hex
  /** Milliseconds. */
  timestamp: string
  signature: string
}

/** Proves that a receipt is in the log under a checkpoint, without its contents. */
export type Proof = {
  type: 'counterfoil.proof'
  /** 2 where witnesses signed a head over the receipt. */
  version: '1' | '2'
  receipt_id: string
  log_id: Hex
  index: string
  /** SHA-256(0x00 || kind || digest). */
  leaf: Hex
  /** The size of the checkpoint, whose root the path leads to. */
  size: string
  path: Hex[]
  checkpoint: Checkpoint
  anchor: ProofAnchor
  /** A proof under a head that witnesses signed (c2sp.org/tlog-proof); since version 2. */
  tlog?: string
}

/** The issuer's claim about this root on the chain. Only the chain itself proves it. */
export type ProofAnchor =
  | { status: 'disabled' }
  | ({
      status: 'pending' | 'submitted' | 'superseded' | 'failed'
      /** RFC 3339; null when it is unknown. */
      expected_by: string | null
    } & AnchorPlace)
  | ({
      status: 'confirmed' | 'final'
      /** That of the checkpoint. */
      size: string
      tx_hash: string
      block_number: string
      block_hash: string
      /** RFC 3339. */
      block_time: string
    } & AnchorPlace)

/** The registry's address and the account that opened the log there. */
export type AnchorPlace = { chain_id: number; registry: string; log_owner: string }

/** That a log of `to` leaves begins with its first `from`. */
export type Consistency = { from: string; to: string; path: Hex[] }

/** Enough for a log of 2^64 leaves, with room for the longer path of consistency. */
const maxPath = 128

/** The id of a log, derived from its origin; a reopened log has another origin. */
export const logIdOf = (origin: string): Hex => toHex(keccak256(new TextEncoder().encode(origin)))

/** Reads a proof strictly, of one receipt; undefined when `problems` has grown. Never throws. */
export function parseProof(
  value: unknown,
  receiptId: string,
  problems: Problem[],
): Proof | undefined {
  const before = problems.length
  if (!isObject(value)) return say(problems, 'proof', 'not an object')
  if (value['type'] !== 'counterfoil.proof') say(problems, 'proof.type', 'not "counterfoil.proof"')
  const isWitnessed = value['version'] === '2'
  if (value['version'] !== '1' && !isWitnessed) say(problems, 'proof.version', 'not "1" or "2"')
  const { tlog, ...others } = value
  refuseOthers(isWitnessed ? others : value, proofMembers, 'proof', problems)
  if (isWitnessed) readMember('string', tlog, 'proof.tlog', problems)
  if (value['receipt_id'] !== receiptId) {
    say(problems, 'proof.receipt_id', 'of another receipt')
  }
  for (const [member, type] of [
    ['log_id', 'bytes32'],
    ['index', 'uint64'],
    ['leaf', 'bytes32'],
    ['size', 'uint64'],
  ] as const) {
    readMember(type, value[member], `proof.${member}`, problems)
  }
  readPath(value['path'], 'proof.path', problems)
  const checkpoint = parseCheckpoint(value['checkpoint'], 'proof.checkpoint', problems)
  if (checkpoint && checkpoint.size !== value['size']) {
    say(problems, 'proof.size', 'not the size of the checkpoint')
  }
  if (checkpoint && logIdOf(checkpoint.issuer) !== value['log_id']) {
    say(problems, 'proof.log_id', 'not the log of the checkpoint')
  }
  readAnchor(value['anchor'], value['size'], problems)
  return problems.length === before ? (value as Proof) : undefined
}

const proofMembers = new Set([
  'type',
  'version',
  'receipt_id',
  'log_id',
  'index',
  'leaf',
  'size',
  'path',
  'checkpoint',
  'anchor',
])

function readAnchor(value: unknown, size: unknown, problems: Problem[]): undefined {
  if (!isObject(value)) return say(problems, 'proof.anchor', 'not an object')
  const { status, ...rest } = value
  const members = typeof status === 'string' ? anchorMembers.get(status) : undefined
  if (!members) return say(problems, 'proof.anchor.status', 'no known status')
  for (const [member, type] of Object.entries(members)) {
    const path = `proof.anchor.${member}`
    const given = rest[member]
    if (type === 'chain') {
      if (given !== domain.chainId) say(problems, path, `not ${domain.chainId}`)
    } else if (type === 'time') {
      if (!isTime(given) && !(given === null && member === 'expected_by')) {
        say(problems, path, 'not a time')
      }
    } else readMember(type, given, path, problems)
  }
  const known = { has: (member: string) => Object.hasOwn(members, member) }
  refuseOthers(rest, known, 'proof.anchor', problems)
  if ('size' in members && rest['size'] !== size) {
    say(problems, 'proof.anchor.size', 'not the size of the proof')
  }
}

const isTime = (value: unknown): boolean =>
  typeof value === 'string' &&
  value.endsWith('Z') &&
  value.includes('T') &&
  parseTime(value) !== undefined

const anchorPlace = { chain_id: 'chain', registry: 'address', log_owner: 'address' } as const
const onItsWay = { ...anchorPlace, expected_by: 'time' } as const
const onChain = {
  ...anchorPlace,
  size: 'uint64',
  tx_hash: 'bytes32',
  block_number: 'uint64',
  block_hash: 'bytes32',
  block_time: 'time',
} as const

/** Per status the members that stand beside it, no more and no fewer. */
const anchorMembers = new Map<string, Record<string, string>>([
  ['disabled', {}],
  ['pending', onItsWay],
  ['submitted', onItsWay],
  ['superseded', onItsWay],
  ['failed', onItsWay],
  ['confirmed', onChain],
  ['final', onChain],
])

/** Reads a checkpoint strictly; undefined when `problems` has grown. */
export function parseCheckpoint(
  value: unknown,
  path: string,
  problems: Problem[],
): Checkpoint | undefined {
  const before = problems.length
  if (!isObject(value)) return say(problems, path, 'not an object')
  const { signature, ...signed } = value
  readStruct('Checkpoint', signed, path, problems)
  readMember('string', signature, `${path}.signature`, problems)
  return problems.length === before ? (value as Checkpoint) : undefined
}

/** Reads the path between two checkpoints strictly; undefined when `problems` has grown. */
export function parseConsistency(value: unknown, problems: Problem[]): Consistency | undefined {
  const before = problems.length
  if (!isObject(value)) return say(problems, 'consistency', 'not an object')
  readMember('uint64', value['from'], 'consistency.from', problems)
  readMember('uint64', value['to'], 'consistency.to', problems)
  readPath(value['path'], 'consistency.path', problems)
  refuseOthers(value, consistencyMembers, 'consistency', problems)
  return problems.length === before ? (value as Consistency) : undefined
}

const consistencyMembers = new Set(['from', 'to', 'path'])

function readPath(value: unknown, path: string, problems: Problem[]): undefined {
  if (!Array.isArray(value)) return say(problems, path, 'not a list')
  if (value.length > maxPath) return say(problems, path, `more than ${maxPath} hashes`)
  for (const [i, hash] of value.entries()) readMember('bytes32', hash, `${path}[${i}]`, problems)
}
