import type { Checkpoint } from '../../verify/proof.ts'
import type { AnchorAnswer, SignerAnswer } from './answers.ts'

/** The service as anybody sees it, without a key. */
export type Service = {
  /** The JSON of an answer. @throws ServiceTrouble */
  get(path: string): Promise<unknown>
}

/** The service does not answer, or not with what can be read. */
export class ServiceTrouble extends Error {}

/** What was read of the service before it is judged. */
export type Told = {
  origin: string
  checkpoint: Checkpoint | undefined
  /** Who opened the log on the chain, by the service's word. */
  owner: string | undefined
  /** On the chain by the service's word, smallest first. */
  anchors: AnchorAnswer[]
  /** Oldest first. */
  signers: SignerAnswer[]
}

/** How many there are, in words for a reason. */
export const count = (n: number, one: string): string => (n === 1 ? `1 ${one}` : `${n} ${one}s`)
