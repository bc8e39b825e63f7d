/** Motion for readers who want it. */

/** Whether the reader asked for a still page. */
export const isStill = (): boolean => matchMedia('(prefers-reduced-motion: reduce)').matches

/** Waits so many ms, or not at all on a still page. */
export const pause = (ms: number): Promise<void> | undefined =>
  isStill() ? undefined : new Promise((resolve) => setTimeout(resolve, ms))
