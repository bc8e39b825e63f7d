/** Answers the console without script: waits for the run, then shows the page. */
import type { Deps } from '../../../app/deps-port.ts'
import { Refusal } from '../../../kernel/refusal.ts'
import { stopWithClient } from '../../../runs/api/client-gone.ts'
import type { LiveRun } from '../../../runs/live-run.ts'
import { askModel, deltasOf } from '../ask.ts'
import { type FaultWords, wordsOf } from '../fault-words.ts'
import { roomIn } from '../files.ts'
import type { Said } from '../portal/talk.tsx'
import { type Answer, addPiece, readPiece, readSaid, replyOf } from '../said.ts'
import { recentTurns, type Turn } from '../talk.ts'
import type { Draft } from './asked.ts'

/** How long a page may wait for an answer; Bun closes a connection silent for 120 s. */
const waitMs = 100_000

type Answered = {
  draft: Draft
  status: number
  said?: Said
  fault?: FaultWords
}

/**
 * The whole answer for a browser without script, which waits for it. What it asked comes back: as
 * a turn when it was answered, in its field when it was not.
 */
export async function answerByPage(
  deps: Deps,
  request: Request,
  draft: Draft,
  begin: () => Promise<LiveRun>,
): Promise<Answered> {
  let live: LiveRun
  try {
    live = await begin()
  } catch (error) {
    return faultOf(draft, error)
  }
  stopWithClient(live, request.signal)
  const { input, files } = draft
  const sofar: Answer = { text: '', reasoning: '', calls: [], images: [] }
  const tooLong = setTimeout(() => live.stop('overdue'), waitMs)
  try {
    const done = await askModel(deps, live, {
      send(chunks) {
        for (const delta of deltasOf(chunks)) addPiece(sofar, readPiece(delta))
      },
    })
    // What finishes a stream is held back: some say their last words in it.
    const message = done.choices[0]?.message ?? {}
    const answer = readSaid(message)
    const reply = replyOf(message)
    const turn: Turn = {
      ...{ input, output: answer.text, receipt_id: done.receiptId, model: live.model.id },
      ...(files.length > 0 && { files }),
      ...(reply && { reply }),
    }
    const turns = recentTurns([...draft.turns, turn], roomIn(deps.settings.bodyBytes))
    const said = { input, files, answer, run: done.run }
    return { draft: { ...draft, input: '', files: [], turns }, status: 200, said }
  } catch (error) {
    const said = { input, files, answer: sofar, run: await deps.runs.find(live.id) }
    return { ...faultOf(draft, error), said }
  } finally {
    clearTimeout(tooLong)
  }
}

/** What came of a command: its lines; one that was refused stays in its field. */
export async function answerCommand(
  draft: Draft,
  run: () => Promise<{ lines: readonly string[] }>,
): Promise<Answered> {
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
function faultOf(draft: Draft, error: unknown): Answered {
  if (!(error instanceof Refusal)) throw error
  const { type, message, detail, status } = error
  const { metadata = {} } = detail
  return { draft, status, fault: wordsOf({ type, message, metadata }) }
}
