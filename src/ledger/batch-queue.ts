/** Collects commands into batches: one account at a time, in the order they came. */

/** A command that waits for its batch. */
type Waits = { command: { account: string } }

/** The most commands of one batch. */
const batchMax = 128
/** A last batch of at least this many commands makes the next small one wait for more. */
const busyMin = 4
/** A batch of this size does not wait for more; a smaller one is not halved. */
const enough = 32
/** How long a small batch waits for more commands, in ms. */
const gatherMs = 1
/** How often it waits at most: again only after a wait that brought some. */
const gatherMost = 4
/** After this long, in ms, a batch counts as slow: it waits for another node, others need not. */
const slowMs = 20

/** How many batches may be in flight: `quick` ones that are not slow, and `most` in all. */
export type BatchLimits = { quick: number; most: number }

/**
 * Queues commands while the allowed number of batches is in flight; what arrives meanwhile forms
 * the next one. Under load a small batch waits a moment for more, because a COMMIT costs several
 * times what a command in it does. `run` takes its batch when it can begin with it.
 */
export function makeBatchQueue<W extends Waits>(
  { quick, most }: BatchLimits,
  run: (take: () => W[]) => Promise<unknown>,
): { add(waiting: W): void } {
  let queue: W[] = []
  /** Accounts of the batches in flight. */
  const busy = new Set<string>()
  let flying = 0
  let slow = 0
  /** Whether a started batch has not yet taken its commands. */
  let isGathering = false
  let lately = 0

  /** Takes all free accounts, or half of them if a second batch may run in parallel. */
  const take = (): W[] => {
    const [only] = queue
    if (only && queue.length === 1 && !busy.has(only.command.account)) {
      busy.add(only.command.account)
      return queue.splice(0)
    }
    const accounts = queue.map(({ command }) => command.account)
    const free = new Set(accounts.filter((account) => !busy.has(account)))
    const most = flying - slow < quick ? Math.ceil(free.size / 2) : free.size
    const batch: W[] = []
    const rest: W[] = []
    const taken = new Set<string>()
    for (const waiting of queue) {
      const { account } = waiting.command
      const isIn = taken.has(account) || taken.size < most || batch.length < enough
      if (isIn && free.has(account) && batch.length < batchMax) {
        taken.add(account)
        batch.push(waiting)
      } else rest.push(waiting)
    }
    queue = rest
    for (const account of taken) busy.add(account)
    return batch
  }

  const next = (): void => {
    if (isGathering || flying >= most || flying - slow >= quick) return
    if (queue.some(({ command }) => !busy.has(command.account))) void fly()
  }

  const gather = async (): Promise<void> => {
    let before = 0
    for (let waits = 0; waits < gatherMost; waits++) {
      if (queue.length >= enough || queue.length === before) return
      before = queue.length
      await Bun.sleep(gatherMs)
    }
  }

  const fly = async (): Promise<void> => {
    flying++
    isGathering = true
    if (lately >= busyMin) await gather()
    let batch: W[] = []
    let isSlow = false
    let timer: Timer | undefined
    try {
      await run(() => {
        batch = take()
        isGathering = false
        if (most > quick) {
          timer = setTimeout(() => {
            isSlow = true
            slow++
            next()
          }, slowMs)
        }
        next()
        return batch
      })
    } finally {
      clearTimeout(timer)
      isGathering = false
      lately = batch.length
      for (const { command } of batch) busy.delete(command.account)
      flying--
      if (isSlow) slow--
      next()
    }
  }

  return {
    add(waiting) {
      queue.push(waiting)
      if (!busy.has(waiting.command.account)) next()
    },
  }
}
