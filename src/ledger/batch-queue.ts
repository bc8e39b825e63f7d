/** A command that waits for its batch. */
type Waits = { command: { account: string } }

/** Commands of one batch; more wait for the next. */
const batchMax = 128
/** A batch of this many or more says that commands come in company. */
const companyMin = 4
/** A batch that is this large already does not wait for more, and a smaller one is not halved. */
const companyMax = 24
/** How long a small batch waits for company, in ms. */
const gatherMs = 1
/** From then on a batch is slow, in ms: it waits for another node, which others need not do. */
const slowMs = 20

/**
 * How many batches are in flight: while one is stored the next is thought about, and a third would
 * only make all of them smaller, unless one of them is slow.
 */
export type BatchLimits = { quick: number; most: number }

/**
 * Lets commands wait for each other in batches: while as many are in flight as may be, everything
 * that arrives forms the next one. Commands of one account are in one batch at a time, and in the
 * order they came. While commands come in company, a small batch waits a moment for more: a COMMIT
 * costs several times what a command in it does. A lone caller waits at most once, after company.
 * `run` takes its batch when it can begin with it.
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
  /** Whether a batch is on its way that did not take its commands yet. */
  let isGathering = false
  let lately = 0

  /** All that may go, or half of the accounts if another batch may go beside it. */
  const take = (): W[] => {
    const accounts = queue.map(({ command }) => command.account)
    const free = new Set(accounts.filter((account) => !busy.has(account)))
    const most = flying - slow < quick ? Math.ceil(free.size / 2) : free.size
    const batch: W[] = []
    const rest: W[] = []
    const taken = new Set<string>()
    for (const waiting of queue) {
      const { account } = waiting.command
      const isIn = taken.has(account) || taken.size < most || batch.length < companyMax
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

  const fly = async (): Promise<void> => {
    flying++
    isGathering = true
    if (lately >= companyMin && queue.length < companyMax) await Bun.sleep(gatherMs)
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
