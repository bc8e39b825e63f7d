/** Streams a run of the console to its page. */
import type { Deps } from '../../../app/deps-port.ts'
import { toJsonInteger } from '../../../kernel/money.ts'
import { receiptIdOf } from '../../../proof/receipts/receipt.ts'
import { stopWithClient } from '../../../runs/api/client-gone.ts'
import { openTranscript } from '../../../runs/api/stream.ts'
import type { LiveRun } from '../../../runs/live-run.ts'
import { toReceiptLink } from '../../../runs/openai.ts'
import { toRunView } from '../../../runs/run-view.ts'
import type { Sink, Streamed } from '../../../runs/stream.ts'
import { dataFrame, type SseContext, sseResponse } from '../../../web/http/sse.ts'
import { askModel, textOf, withCharge } from '../ask.ts'

/**
 * A run as a page follows it: `run.started` with its hold, the text as it comes in
 * `run.output.delta`, and `run.completed` with its cost and receipt; or an error in band, with
 * what was charged. A page that goes away stops the run.
 */
export function streamAnswer(deps: Deps, live: LiveRun, context: SseContext): Response {
  context.set.headers['x-receipt-id'] = receiptIdOf(live.id)
  const told = live.call === undefined ? undefined : openTranscript(deps, live, context)
  const ended = (done: Streamed): string => {
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
          const text = textOf(chunks)
          if (text !== '') return say(event('run.output.delta', { text }))
        },
      }
      client.send(ended(await askModel(deps, live, sink, told?.keep(ended, withCharge))))
    },
    { onBug: (error) => deps.log.error('console.stream_failed', error, { run_id: live.id }) },
  )
}

const startOf = (live: LiveRun) => ({
  run_id: live.id,
  receipt_id: receiptIdOf(live.id),
  hold_nusd: toJsonInteger(live.row.hold),
})

const event = (type: string, fields: object): string =>
  dataFrame(JSON.stringify({ type, ...fields }))
