/** Reads a service's responses strictly: an auditor trusts no unexpected form. */
import type { Hex } from '../../kernel/hex.ts'
import type { Liabilities } from '../../verify/liabilities.ts'
import { type Checkpoint, parseCheckpoint, parseConsistency } from '../../verify/proof.ts'
import { isObject, type Problem, readMember, readStruct } from '../../verify/receipt.ts'
import { keyTypes, type NoteKey, parseVkey } from '../../verify/signed-note.ts'

/** A head of the log that the service claims is on the chain. */
export type AnchorAnswer = { id: string; status: string; size: number; root: Hex }

/** One page of `GET /v1/anchors`. */
export type AnchorsPage = {
  origin: string
  checkpoint: Checkpoint | undefined
  anchors: AnchorAnswer[]
  /** The wallet that opened the log on the chain, as the service claims. */
  owner: string | undefined
  hasMore: boolean
  lastId: string | undefined
}

/** A signer and its range of the log: fromIndex ≤ index < untilIndex. */
export type SignerAnswer = {
  address: string
  fromIndex: number
  /** null means to the end. */
  untilIndex: number | null
  /** Its statement that names the next signer; undefined for the current one. */
  rotation: Rotation | undefined
}

/** `SignerRotation` and the old key's signature over it; null if that key was lost. */
export type Rotation = {
  issuer: string
  previous: string
  next: string
  fromIndex: number
  reason: string
  signature: string | null
}

/** All signers of a log, and where its files are. */
export type SignersAnswer = {
  issuer: string
  /** Oldest first. */
  signers: SignerAnswer[]
  prefix: string | undefined
  noteKeys: NoteKey[]
}

/** A response that violates the API. */
export class WrongAnswer extends Error {}

/** @throws WrongAnswer */
export function readAnchors(answer: unknown): AnchorsPage {
  const page = object(answer, 'the list of anchors')
  const { data, has_more: hasMore, last_id: lastId, log, log_owner: owner } = page
  const { origin, checkpoint } = object(log, 'log')
  if (!Array.isArray(data) || data.length > 1000) throw wrong('data')
  if (typeof origin !== 'string' || typeof hasMore !== 'boolean')
    throw wrong('log.origin, has_more')
  return {
    origin,
    checkpoint: checkpoint === null ? undefined : readCheckpoint(checkpoint),
    anchors: data.map(readAnchor),
    owner: typeof owner === 'string' ? member('address', owner, 'log_owner') : undefined,
    hasMore,
    lastId: typeof lastId === 'string' ? lastId : undefined,
  }
}

/** The consistency path between two sizes. @throws WrongAnswer */
export function readConsistency(answer: unknown): { from: string; to: string; path: Hex[] } {
  const problems: Problem[] = []
  const { consistency } = object(answer, 'the list of anchors')
  return parseConsistency(consistency, problems) ?? fails(problems)
}

/** All signers of a log, oldest first. @throws WrongAnswer */
export function readSigners(answer: unknown): SignersAnswer {
  const signer = object(answer, 'the signer')
  const { issuer, previous, log } = signer
  if (typeof issuer !== 'string' || !Array.isArray(previous) || previous.length > 1000) {
    throw wrong('issuer, previous')
  }
  const signers = [...previous, signer].map(readSigner)
  const prefix = isObject(log) ? log['prefix'] : undefined
  return {
    issuer,
    signers: signers.sort((a, b) => a.fromIndex - b.fromIndex),
    prefix: prefix === undefined ? undefined : readPrefix(prefix),
    noteKeys: [signer, ...previous].flatMap(readNoteKey),
  }
}

/** It is put behind the address of the service, so it must be nothing but a path. */
function readPrefix(value: unknown): string {
  if (typeof value !== 'string' || !/^(?:\/\w{1,64}){1,8}$/.test(value)) throw wrong('log.prefix')
  return value
}

/** Key of notes, which a signer from before them does not have. */
function readNoteKey(signer: Record<string, unknown>): NoteKey[] {
  const { note_key: vkey } = signer
  if (vkey === undefined || vkey === null) return []
  const key = typeof vkey === 'string' ? parseVkey(vkey) : undefined
  if (key?.type !== keyTypes.ed25519) throw wrong('note_key')
  return [key]
}

/** One page of `GET /liabilities`. @throws WrongAnswer */
export function readLiabilitiesPage(answer: unknown): {
  statements: Liabilities[]
  hasMore: boolean
} {
  const { data, has_more: hasMore } = object(answer, 'the list of statements')
  if (!Array.isArray(data) || data.length > 1000 || typeof hasMore !== 'boolean') {
    throw wrong('data, has_more')
  }
  const problems: Problem[] = []
  const statements = data.map((item) => {
    const { statement } = object(item, 'a statement')
    return readStruct('Liabilities', statement, 'statement', problems) as Liabilities
  })
  return problems.length > 0 ? fails(problems) : { statements, hasMore }
}

/** @throws WrongAnswer */
export function readCheckpoint(value: unknown): Checkpoint {
  const problems: Problem[] = []
  return parseCheckpoint(value, 'checkpoint', problems) ?? fails(problems)
}

function readAnchor(value: unknown): AnchorAnswer {
  const { id, status, size, root } = object(value, 'an anchor')
  if (typeof id !== 'string' || typeof status !== 'string') throw wrong('an anchor')
  return { id, status, size: integer(size, 'size'), root: member('bytes32', root, 'root') as Hex }
}

function readSigner(value: unknown): SignerAnswer {
  const { address, from_index: from, until_index: until, rotation } = object(value, 'a signer')
  return {
    address: member('address', address, 'address'),
    fromIndex: integer(from, 'from_index'),
    untilIndex: until === null || until === undefined ? null : integer(until, 'until_index'),
    rotation: rotation === null || rotation === undefined ? undefined : readRotation(rotation),
  }
}

function readRotation(value: unknown): Rotation {
  const { issuer, previous, next, fromIndex, reason, signature } = object(value, 'rotation')
  return {
    issuer: member('string', issuer, 'rotation.issuer'),
    previous: member('address', previous, 'rotation.previous'),
    next: member('address', next, 'rotation.next'),
    fromIndex: integer(fromIndex, 'rotation.fromIndex'),
    reason: member('string', reason, 'rotation.reason'),
    signature: signature === null ? null : member('string', signature, 'rotation.signature'),
  }
}

function object(value: unknown, name: string): Record<string, unknown> {
  if (!isObject(value)) throw wrong(name)
  return value
}

function integer(value: unknown, name: string): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) throw wrong(name)
  return value
}

function member(type: string, value: unknown, name: string): string {
  const problems: Problem[] = []
  const read = readMember(type, value, name, problems)
  return typeof read === 'string' ? read : fails(problems)
}

const wrong = (name: string): WrongAnswer =>
  new WrongAnswer(`The service's response violates its API: ${name}.`)

function fails(problems: Problem[]): never {
  throw wrong(problems.map(({ path, message }) => `${path} ${message}`).join(', '))
}
