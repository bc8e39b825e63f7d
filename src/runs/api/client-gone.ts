/** Stops a run, and with it the upstream, when its client disconnects. */
import { type Deadline, deadlineIn } from '../../kernel/deadline.ts'
import type { StopSignal } from '../../kernel/stop.ts'
import type { LiveRun } from '../live-run.ts'

/** How long a client that waits for a whole answer is not listened to, in ms. */
const unheardMs = 50

export function stopWithClient(live: LiveRun, signal: StopSignal): void {
  const stop = () => live.stop('client_gone')
  if (signal.aborted) stop()
  else signal.addEventListener('abort', stop, { once: true })
}

/**
 * The same for a client that waits for the whole answer. It is listened to only after 50 ms,
 * because a listener costs more than a look at the signal when the answer is there, which
 * {@link LiveRun.stopped} takes. Clear the deadline that it returns when the run has ended.
 */
export function stopWithWaiting(live: LiveRun, request: Request): Deadline {
  live.client = request
  live.stopped()
  return deadlineIn(unheardMs, new UnheardClient(live, request))
}

class UnheardClient {
  constructor(
    private readonly live: LiveRun,
    private readonly request: Request,
  ) {}

  handleDeadline(): void {
    stopWithClient(this.live, this.request.signal)
  }
}
