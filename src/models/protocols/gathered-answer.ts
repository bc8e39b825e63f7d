/** The content of an answer, in the protocol it was relayed in. */
import type { Json } from '../../kernel/canonical.ts'

export type GatheredAnswer = {
  /** The value that the receipt commits to: everything that was relayed of it. */
  choices: Json
  /** UTF-8 bytes of all that was said. */
  outputBytes: number
  /** UTF-8 bytes of what is sealed: output that only its server can read. */
  sealedBytes?: number | undefined
  /** Bytes that were said after its client had left, and are kept nowhere. */
  droppedBytes?: number | undefined
  /** The usage that the model server reported, unchecked. */
  usage: Json | undefined
  /** Whether more output came after that report. */
  isOutdated: boolean
  /** The tier of service it names, unchecked. */
  tier: Json | undefined
  /** The searches that the model server made by itself, as far as they came. */
  searches?: number | undefined
}
