/** Answers the console without script: waits for the run, then shows the page. */
import type { Deps } from '../../../app/deps-port.ts'
import { Refusal } from '../../../kernel/refusal.ts'
import { textOfChoice } from '../../../runs/answer.ts'
import { stopWithClient } from '../../../runs/api/client-gone.ts'
import type { LiveRun } from '../../../runs/live-run.ts'
import { askModel, textOf } from '../ask.ts'
import { type FaultWords, wordsOf } from '../fault-words.ts'
import type { Said } from '../portal/talk.tsx'
import { recentTurns } from '../talk.ts'
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
  const { input } = draft
  let live: LiveRun
  try {
    live = await begin()
  } catch (error) {
    return faultOf(draft, error)
  }
  stopWithClient(live, request.signal)
  let output = ''
  const tooLong = setTimeout(() => live.stop('overdue'), waitMs)
  try {
    const done = await askModel(deps, live, {
      send(chunks) {
        output += textOf(chunks)
      },
    })
    // What finishes a stream is held back: some say their last words in it.
    const text = textOfChoice(done.choices[0]) || output
    const turn = { input, output: text, receipt_id: done.receiptId }
    const next = { ...draft, input: '', turns: recentTurns([...draft.turns, turn]) }
    return { draft: next, status: 200, said: { input, output: text, run: done.run } }
  } catch (error) {
    const said = { input, output, run: await deps.runs.find(live.id) }
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
    const said = { input: draft.input, output: lines.join('\n'), run: undefined, isCommand: true }
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
