import { type Hex, toHex } from './hex.ts'
import { keccak256 } from './keccak.ts'
import { isObject, type Problem, readMember, readStruct, say } from './receipt.ts'

/** What was signed of a log: its root at a size. Integers are decimal text, as in a receipt. */
export type Checkpoint = {
  /** The log's origin, which is the issuer of its receipts. */
  issuer: string
  size: string
  root: Hex
  /** Milliseconds. */
  timestamp: string
  signature: string
}

/** That a receipt is in the log under a checkpoint: hashes and places, nothing of what it says. */
export type Proof = {
  type: 'counterfoil.proof'
  version: '1'
  receipt_id: string
  log_id: Hex
  index: string
  /** SHA-256(0x00 || kind || digest). */
  leaf: Hex
  /** Of the checkpoint, whose root the path leads to. */
  size: string
  path: Hex[]
  checkpoint: Checkpoint
  anchor: ProofAnchor
}

/** Where the log's head stands on the chain. What it says beyond its status is not believed. */
export type ProofAnchor = { status: (typeof anchorStatuses)[number] }

/** That a log of `to` leaves begins with its first `from`. */
export type Consistency = { from: string; to: string; path: Hex[] }

const anchorStatuses = [
  'disabled',
  'pending',
  'submitted',
  'confirmed',
  'final',
  'superseded',
  'failed',
] as const

/** Enough for a log of 2^64 leaves, with room for the longer path of consistency. */
const maxPath = 128

/** A log is named by its origin; a log that had to be opened anew has another one. */
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
  if (value['version'] !== '1') say(problems, 'proof.version', 'not "1"')
  for (const member of Object.keys(value)) {
    if (!proofMembers.has(member)) say(problems, `proof.${member}`, 'unknown member')
  }
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
  const { anchor } = value
  if (!isObject(anchor) || !anchorStatuses.some((status) => status === anchor['status'])) {
    say(problems, 'proof.anchor', 'without a known status')
  }
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
  return problems.length === before ? (value as Consistency) : undefined
}

function readPath(value: unknown, path: string, problems: Problem[]): undefined {
  if (!Array.isArray(value)) return say(problems, path, 'not a list')
  if (value.length > maxPath) return say(problems, path, `more than ${maxPath} hashes`)
  for (const [i, hash] of value.entries()) readMember('bytes32', hash, `${path}[${i}]`, problems)
}
