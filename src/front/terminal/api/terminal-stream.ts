/** Streams the answer of a model to the terminal. */
import type { Deps } from '../../../app/deps-port.ts'
import { receiptIdOf } from '../../../proof/receipts/receipt.ts'
import { stopWithClient } from '../../../runs/live-run.ts'
import { dataFrame, type SseContext, sseResponse } from '../../../web/http/sse.ts'
import { textOf } from '../../console/chat-run.ts'
import type { SponsoredRun } from '../sponsored-run.ts'
import { plainPiece } from '../text.ts'
import { type TerminalResult, toAskResult } from './result.ts'

/**
 * An ask as it is answered: `run.started`, the text as it comes in `run.output.delta`, and the
 * whole result in `run.completed`; or an error in band. A client that disconnects stops it.
 */
export function streamAsk(deps: Deps, ask: SponsoredRun, context: SseContext): Response {
  const { live } = ask
  const receiptId = receiptIdOf(live.id)
  context.set.headers['x-receipt-id'] = receiptId
  return sseResponse(
    context,
    async (client) => {
      stopWithClient(live, client.signal)
      client.send(
        event('run.started', { run_id: live.id, receipt_id: receiptId, model: live.model.id }),
      )
      const done = await ask.answer({
        send(chunks) {
          const text = plainPiece(textOf(chunks))
          if (text !== '') return client.send(event('run.output.delta', { text }))
        },
      })
      const result: TerminalResult = toAskResult(deps, done)
      client.send(event('run.completed', { result }))
    },
    {
      onBug: (error) => deps.log.error('terminal.stream_failed', error, { run_id: live.id }),
      keeper: live,
    },
  )
}

const event = (type: string, fields: object): string =>
  dataFrame(JSON.stringify({ type, ...fields }))
