/** Streams a run of the console to its page. */
import type { Deps } from '../../../app/deps-port.ts'
import { toJsonInteger } from '../../../kernel/money.ts'
import { readPiece } from '../../../models/answers/answer-parts.ts'
import type { Chunk } from '../../../models/upstream/upstream.ts'
import { receiptIdOf } from '../../../proof/receipts/receipt.ts'
import { openTranscript } from '../../../runs/api/stream.ts'
import { type LiveRun, stopWithClient } from '../../../runs/live-run.ts'
import { toReceiptLink } from '../../../runs/openai.ts'
import { toRunView } from '../../../runs/run-view.ts'
import type { Sink, StreamedAnswer } from '../../../runs/stream.ts'
import { dataFrame, type SseContext, sseResponse } from '../../../web/http/sse.ts'
import { deltasOf, runChat, withCharge } from '../chat-run.ts'

/**
 * A run as a page follows it: `run.started` with its hold, what is said as it comes in
 * `run.reasoning.delta`, `run.output.delta` and `run.tool_call.delta`, and `run.completed` with
 * its cost and receipt; or an error in band, with the charge. A page that goes away stops its run.
 */
export function streamAnswer(deps: Deps, live: LiveRun, context: SseContext): Response {
  context.set.headers['x-receipt-id'] = receiptIdOf(live.id)
  const told = live.call === undefined ? undefined : openTranscript(deps, live, context)
  const ended = (done: StreamedAnswer): string => {
    const run = toRunView(done.run, done.choices)
    return event('run.completed', { run, receipt: toReceiptLink(done, deps.settings) })
  }
  return sseResponse(
    context,
    async (client) => {
      stopWithClient(live, client.signal)
      const say = (frame: string) => {
        told?.add(frame)
        return client.send(frame)
      }
      say(event('run.started', startOf(live)))
      const sink: Sink = {
        send(chunks) {
          const frames = framesOf(chunks)
          if (frames !== '') return say(frames)
        },
      }
      client.send(ended(await runChat(deps, live, sink, told?.keep(ended, withCharge))))
    },
    {
      onBug: (error) => deps.log.error('console.stream_failed', error, { run_id: live.id }),
      keeper: live,
    },
  )
}

/** The frames of these chunks: a new one begins where text, reasoning or a call begins. */
function framesOf(chunks: readonly Chunk[]): string {
  let frames = ''
  let text = ''
  let kind = ''
  const flush = (): void => {
    if (text !== '') frames += event(kind, { text })
    text = ''
  }
  const add = (next: string, piece: string): void => {
    if (piece === '') return
    if (next !== kind) flush()
    kind = next
    text += piece
  }
  for (const delta of deltasOf(chunks)) {
    const piece = readPiece(delta)
    add('run.reasoning.delta', piece.reasoning)
    add('run.output.delta', piece.text)
    if (piece.calls.length === 0) continue
    flush()
    for (const call of piece.calls) frames += event('run.tool_call.delta', call)
  }
  flush()
  return frames
}

const startOf = (live: LiveRun) => ({
  run_id: live.id,
  receipt_id: receiptIdOf(live.id),
  hold_nusd: toJsonInteger(live.row.hold),
})

const event = (type: string, fields: object): string =>
  dataFrame(JSON.stringify({ type, ...fields }))
