import { refuse } from '../../kernel/refusal.ts'

/** Asks that run at once, of one client and of all. */
export const slotsOfClient = 2
export const slotsOfAll = 8

/** The places for asks of this process. */
export type Slots = ReturnType<typeof makeSlots>

export function makeSlots() {
  const busy = new Map<string, number>()
  let taken = 0
  return {
    /**
     * Takes a place and answers how to leave it, once.
     * @throws Refusal `concurrency_limited` when the client has two, `unavailable` when all are
     * taken.
     */
    take(network: string): () => void {
      const own = busy.get(network) ?? 0
      if (own >= slotsOfClient) {
        const message = 'Two asks of your network run already. Wait for one of them to end.'
        refuse('concurrency_limited', message)
      }
      if (taken >= slotsOfAll) {
        refuse('unavailable', {
          message: 'As many asks run as the terminal takes. Try again in a few seconds.',
          headers: { 'retry-after': '2', 'retry-after-ms': '2000' },
        })
      }
      taken++
      busy.set(network, own + 1)
      let isLeft = false
      return () => {
        if (isLeft) return
        isLeft = true
        taken--
        const left = (busy.get(network) ?? 1) - 1
        if (left > 0) busy.set(network, left)
        else busy.delete(network)
      }
    },
  }
}
