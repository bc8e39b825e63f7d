/** Answers the console without script: waits for the run, then shows the page. */
import type { Deps } from '../../../app/deps-port.ts'
import { Refusal } from '../../../kernel/refusal.ts'
import {
  type Answer,
  addPiece,
  readAnswer,
  readPiece,
  replyOf,
} from '../../../models/answers/answer-parts.ts'
import type { ReplyKeeper } from '../../../runs/ending.ts'
import { type LiveRun, stopWithClient } from '../../../runs/live-run.ts'
import type { Sink, StreamedAnswer } from '../../../runs/stream.ts'
import type { RunRow } from '../../../storage/db/schema/schema.ts'
import { deltasOf, runChat, withCharge } from '../chat-run.ts'
import { type FaultWords, wordsOf } from '../fault-words.ts'
import { roomIn } from '../files.ts'
import type { Exchange } from '../portal/console-view.ts'
import { recentTurns, type Turn } from '../talk.ts'
import type { Draft } from './question.ts'

/** How long a page may wait for an answer; Bun closes a connection silent for 120 s. */
const waitMs = 100_000

/** A question as its page shows it: its answer, or what went wrong. */
export type ConsolePage = {
  draft: Draft
  status: number
  said?: Exchange
  fault?: FaultWords
}

/**
 * The whole answer for a browser without script, which waits for it. What it asked comes back: as
 * a turn when it was answered, in its field when it was not. `seal` keeps the page with the run.
 */
export async function answerByPage(
  deps: Deps,
  request: Request,
  draft: Draft,
  begin: () => Promise<LiveRun>,
  seal?: (page: ConsolePage) => Uint8Array,
): Promise<ConsolePage> {
  let live: LiveRun
  try {
    live = await begin()
  } catch (error) {
    return faultOf(draft, error)
  }
  stopWithClient(live, request.signal)
  const sofar: Answer = { text: '', reasoning: '', calls: [], images: [] }
  const tooLong = setTimeout(() => live.stop('overdue'), waitMs)
  const brokenOff = (error: unknown, run: RunRow | undefined): ConsolePage => {
    const { input, files } = draft
    return { ...faultOf(draft, error), said: { input, files, answer: sofar, run } }
  }
  const keep: ReplyKeeper<StreamedAnswer> | undefined = seal && {
    done: (done) => seal(wholeOf(deps, live, draft, done)),
    failed: (refusal, run) => seal(brokenOff(withCharge(refusal, run), run)),
  }
  const send: Sink['send'] = (chunks) => {
    for (const delta of deltasOf(chunks)) addPiece(sofar, readPiece(delta))
  }
  try {
    return wholeOf(deps, live, draft, await runChat(deps, live, { send }, keep))
  } catch (error) {
    return brokenOff(error, await deps.runs.find(live.id))
  } finally {
    clearTimeout(tooLong)
  }
}

/** A question that was answered: it is a turn of the conversation now. */
function wholeOf(
  { settings }: Deps,
  live: LiveRun,
  draft: Draft,
  done: StreamedAnswer,
): ConsolePage {
  const { input, files } = draft
  // The end of a stream is held back: some models say their last words in it.
  const message = done.choices[0]?.message ?? {}
  const answer = readAnswer(message)
  const reply = replyOf(message)
  const turn: Turn = {
    ...{ input, output: answer.text, receipt_id: done.receiptId, model: live.model.id },
    ...(files.length > 0 && { files }),
    ...(reply && { reply }),
  }
  const turns = recentTurns([...draft.turns, turn], roomIn(settings.bodyBytes))
  const said = { input, files, answer, run: done.run }
  return { draft: { ...draft, input: '', files: [], turns }, status: 200, said }
}

/** What came of a command: its lines; one that was refused stays in its field. */
export async function answerCommand(
  draft: Draft,
  run: () => Promise<{ lines: readonly string[] }>,
): Promise<ConsolePage> {
  try {
    const { lines } = await run()
    const answer = { text: lines.join('\n'), reasoning: '', calls: [], images: [] }
    const said = { input: draft.input, files: [], answer, run: undefined, isCommand: true }
    return { draft: { ...draft, input: '' }, status: 200, said }
  } catch (error) {
    return faultOf(draft, error)
  }
}

/** @throws any error other than a refusal */
function faultOf(draft: Draft, error: unknown): ConsolePage {
  if (!(error instanceof Refusal)) throw error
  const { type, message, detail, status } = error
  const { metadata = {} } = detail
  return { draft, status, fault: wordsOf({ type, message, metadata }) }
}
