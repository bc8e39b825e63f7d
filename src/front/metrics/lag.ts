import type { Clock } from '../../kernel/clock.ts'

const everyMs = 100

/** Tells how late a timer runs: what one turn of the event loop keeps all others waiting. */
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
