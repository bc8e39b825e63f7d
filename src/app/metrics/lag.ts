/** Measures the lag of the event loop. */
import type { Clock } from '../../kernel/clock.ts'

const everyMs = 100

/** Reports how late a 100 ms timer fires: the time that one turn blocks all others. */
export function watchLag(
  clock: Pick<Clock, 'monotonic'>,
  tell: (seconds: number) => void,
): { stop(): void } {
  let last = clock.monotonic()
  const timer = setInterval(() => {
    const now = clock.monotonic()
    tell(Math.max(0, now - last - everyMs) / 1000)
    last = now
  }, everyMs)
  timer.unref()
  return { stop: () => clearInterval(timer) }
}
