/** Runs jobs at their intervals, each at most once at a time. It holds no logic of its own. */
import type { Clock } from '../kernel/clock.ts'
import type { Log } from '../kernel/log.ts'
import { StorageFault } from '../kernel/storage-fault.ts'

/** Work that recurs. `tick` is never run twice at once, and what it throws is logged, not fatal. */
export type Job = {
  name: string
  everyMs: number
  /** Whether it also runs soon after the start, not only after its first pause. */
  atStart?: boolean
  /** One turn of the job. A long one has to end early once the signal aborts: the server stops. */
  tick: (ending: AbortSignal) => Promise<unknown>
}

/** How long the first answers of a server come before all that may wait, in ms. */
const startAfterMs = 100
/** How long a tick may take before it is reported as stuck, in ms. */
const stuckMs = 60_000

/** The clockwork: no logic of its own. */
export function startJobs(
  jobs: Job[],
  { log, clock }: { log: Log; clock: Pick<Clock, 'monotonic'> },
): { stop(): Promise<void> } {
  const ending = new AbortController()
  const running = new Map<string, { since: number; done: Promise<void>; told: boolean }>()

  const run = (job: Job): void => {
    const busy = running.get(job.name)
    if (busy) {
      const late = clock.monotonic() - busy.since > stuckMs
      if (late && !busy.told) log.warn('job.stuck', { job: job.name })
      busy.told ||= late
      return
    }
    const done = job
      .tick(ending.signal)
      .then(() => {})
      .catch((error: unknown) => {
        // Storage that takes nothing is told once, where that is known; every job meets it.
        if (ending.signal.aborted || error instanceof StorageFault) return
        log.error('job.failed', error, { job: job.name })
      })
      .finally(() => void running.delete(job.name))
    running.set(job.name, { since: clock.monotonic(), done, told: false })
  }

  const soon = setTimeout(() => {
    for (const job of jobs) if (job.atStart) run(job)
  }, startAfterMs)
  const timers = jobs.map((job) => setInterval(() => run(job), job.everyMs))
  return {
    async stop() {
      ending.abort()
      clearTimeout(soon)
      for (const timer of timers) clearInterval(timer)
      await Promise.all([...running.values()].map(({ done }) => done))
    },
  }
}
