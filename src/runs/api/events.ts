/** Streams the events of one run until it ends. */
import type { Deps } from '../../app/deps-port.ts'
import type { RunRow } from '../../storage/db/schema/schema.ts'
import { type SseClient, type SseContext, sseResponse } from '../../web/http/sse.ts'
import { toRunView } from '../run-view.ts'

/** How often a run of another node is looked at, in ms. */
const pollMs = 1000

/**
 * Follows a run until it ends: its state, the output of a background run as it comes, its end.
 * Other runs send their output only to the client that started them.
 */
export function followRun(
  deps: Pick<Deps, 'live' | 'runs' | 'log'>,
  context: SseContext,
  run: RunRow,
): Response {
  const onBug = (error: unknown) => deps.log.error('run.events_failed', error, { run_id: run.id })
  return sseResponse(context, (client) => follow(deps, client, run), { onBug })
}

async function follow(
  deps: Pick<Deps, 'live' | 'runs'>,
  client: SseClient,
  run: RunRow,
): Promise<void> {
  client.send(event('run.status', { run: toRunView(run) }))
  await untilEnded(deps, client, run)
  if (client.signal.aborted) return
  const last = await deps.runs.find(run.id)
  if (last) client.send(event('run.ended', { run: toRunView(last, last.output ?? undefined) }))
}

async function untilEnded(
  { live, runs }: Pick<Deps, 'live' | 'runs'>,
  client: SseClient,
  run: RunRow,
): Promise<void> {
  const here = live.find(run.id)
  if (here) {
    await new Promise<void>((resolve) => {
      let isBehind = false
      const leave = here.watch((chunks) => {
        if (!chunks) return resolve()
        // A reader that is behind misses pieces rather than fill our memory: the end has it all.
        if (!run.background || isBehind) return
        for (const { choices } of chunks) {
          const behind = client.send(event('run.output.delta', { choices }))
          if (!behind || isBehind) continue
          isBehind = true
          void behind.then(() => {
            isBehind = false
          })
        }
      })
      client.signal.addEventListener('abort', () => {
        leave()
        resolve()
      })
    })
    return
  }
  while (!client.signal.aborted) {
    const now = await runs.find(run.id)
    if (!now || now.finishedAt !== null) return
    await Bun.sleep(pollMs)
  }
}

const event = (type: string, fields: object): string =>
  `data: ${JSON.stringify({ type, ...fields })}\n\n`
