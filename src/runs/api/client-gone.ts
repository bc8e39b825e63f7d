/** Stops a run, and with it the upstream, when its client disconnects. */
import type { LiveRun } from '../live-run.ts'

export function stopWithClient(live: LiveRun, signal: AbortSignal): void {
  const stop = () => live.stop('client_gone')
  if (signal.aborted) stop()
  else signal.addEventListener('abort', stop, { once: true })
}
