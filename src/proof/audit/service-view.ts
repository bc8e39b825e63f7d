/** The public view of a service that an audit reads. */
import type { Hex } from '../../kernel/hex.ts'
import type { Checkpoint } from '../../verify/proof.ts'
import type { NoteKey } from '../../verify/signed-note.ts'
import type { AnchorAnswer, SignerAnswer } from './answers.ts'

/** Public reads of a service, without a key. */
export type Service = {
  /** The JSON of a response. @throws ServiceTrouble */
  get(path: string): Promise<unknown>
}

/** The service is unreachable, has no such path (`isMissing`), or its response is unreadable. */
export class ServiceTrouble extends Error {
  constructor(
    message: string,
    readonly isMissing = false,
  ) {
    super(message)
  }
}

/**
 * The damage that a service confesses in the body of an answer: a wrong log, not one that could not
 * be read. Undefined for any other answer.
 */
export function confessionIn(status: number, body: string): string | undefined {
  if (status !== 503 || !body.includes('log_damaged')) return undefined
  try {
    const { error } = JSON.parse(body) as { error?: { type?: unknown; message?: unknown } }
    return error?.type === 'log_damaged' ? String(error.message) : undefined
  } catch {
    return undefined
  }
}

/** Everything read from the service, before the checks. */
export type ServiceView = {
  origin: string
  checkpoint: Checkpoint | undefined
  /** The wallet that opened the log on the chain, as the service claims. */
  owner: string | undefined
  /** On the chain as the service claims, smallest first. */
  anchors: AnchorAnswer[]
  /** Oldest first. */
  signers: SignerAnswer[]
  /** The path of the checkpoint and tiles; undefined of a service without them. */
  prefix: string | undefined
  /** Keys of the notes of the log, old and new. */
  noteKeys: NoteKey[]
}

/** A head of the log that is known from elsewhere than its files. */
export type KnownHead = { what: string; size: number; root: Hex }

/** A count with its noun: `1 anchor`, `2 anchors`. */
export const count = (n: number, one: string): string => (n === 1 ? `1 ${one}` : `${n} ${one}s`)
