/** Limits how many exports run at once. */
import { refuse } from '../../kernel/refusal.ts'

/** Places for exports that run at once, so that none of them starves the rest of the service. */
export type ExportSlots = {
  /**
   * Takes a place; call what it gives back when the export ends, however often.
   * @throws Refusal 'concurrency_limited'
   */
  take(account: string): () => void
  /** Places taken now, by all accounts. */
  count(): number
}

const perAccount = 4
const perNode = 16

export function makeExportSlots(): ExportSlots {
  const taken = new Map<string, number>()
  let all = 0
  return {
    take(account) {
      const own = taken.get(account) ?? 0
      if (own >= perAccount || all >= perNode) {
        refuse('concurrency_limited', 'Too many exports at once. Wait for one to end.')
      }
      taken.set(account, own + 1)
      all++
      let isHeld = true
      return () => {
        if (!isHeld) return
        isHeld = false
        all--
        const left = (taken.get(account) ?? 1) - 1
        if (left === 0) taken.delete(account)
        else taken.set(account, left)
      }
    },
    count: () => all,
  }
}
