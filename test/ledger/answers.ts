import { Refusal } from '../../src/kernel/refusal.ts'

/** What many commands came to: the results, and how often each refusal was given. */
export async function takenTogether<T>(asked: Promise<T>[]) {
  const done: T[] = []
  const refused: Record<string, number> = {}
  for (const outcome of await Promise.allSettled(asked)) {
    if (outcome.status === 'fulfilled') done.push(outcome.value)
    else {
      const { reason } = outcome
      const type = reason instanceof Refusal ? reason.type : String(reason)
      refused[type] = (refused[type] ?? 0) + 1
    }
  }
  return { done, refused }
}
