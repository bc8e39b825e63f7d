/** What an answer came to, in the protocol it was relayed in. */
import type { Json } from '../../kernel/canonical.ts'

export type GatheredAnswer = {
  /** What the receipt commits to: everything that was relayed of it. */
  choices: Json
  /** UTF-8 bytes of all that was said. */
  outputBytes: number
  /** The same of what is sealed: output that only its server can read. */
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
