/** The parts of the console page. */
import type { ShownKey } from '../../../access/keys/shown-key.ts'
import type { Millis } from '../../../kernel/clock.ts'
import type { Answer } from '../../../models/answers/answer-parts.ts'
import type { Model } from '../../../models/model.ts'
import type { RunRow } from '../../../storage/db/schema/schema.ts'
import type { Draft } from '../api/question.ts'
import type { FaultWords } from '../fault-words.ts'
import type { SentFile } from '../files.ts'

/** The last question and its answer, for a page without script. */
export type Exchange = {
  input: string
  files: readonly SentFile[]
  answer: Answer
  run: RunRow | undefined
  /** Whether it was a terminal command. */
  isCommand?: boolean
}

export type ConsoleView = {
  account: string
  baseUrl: string
  bodyBytes: number
  now: Millis
  models: readonly Model[]
  draft: Draft
  key: ShownKey | undefined
  said?: Exchange | undefined
  fault?: FaultWords | undefined
  /** Names the form of this page. */
  once: string
  /** A refused cap. */
  cap?: { cap: string; error: string } | undefined
}
