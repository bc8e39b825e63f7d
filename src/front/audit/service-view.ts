/** The public view of a service that an audit reads. */
import type { Checkpoint } from '../../verify/proof.ts'
import type { AnchorAnswer, SignerAnswer } from './answers.ts'

/** Public reads of a service, without a key. */
export type Service = {
  /** The JSON of a response. @throws ServiceTrouble */
  get(path: string): Promise<unknown>
}

/** The service is unreachable, or its response is unreadable. */
export class ServiceTrouble extends Error {}

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
}

/** A count with its noun: `1 anchor`, `2 anchors`. */
export const count = (n: number, one: string): string => (n === 1 ? `1 ${one}` : `${n} ${one}s`)
