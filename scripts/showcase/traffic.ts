/** Live traffic of the showcase: runs, shares, blocks and now and then a deposit. */
import type { LocalChain } from './chain.ts'
import { diceOf } from './dice.ts'
import { askWith, callerOf, maybeShare } from './history.ts'
import type { Person } from './people.ts'

export type Traffic = {
  origin: string
  people: [Person, Person, Person]
  chain: LocalChain
  /** Milliseconds between two runs; none when 0. */
  everyMs: number
}

const blockMs = 2000
const depositMs = 240_000

/** Starts it. Returns what stops it and waits for the calls in flight. */
export function startTraffic({ origin, people, chain, everyMs }: Traffic): () => Promise<void> {
  const dice = diceOf(`traffic ${origin}`)
  const open = new Set<Promise<unknown>>()
  let isOver = false
  // A stop cuts calls: those errors are expected.
  const begin = (work: Promise<unknown>): void => {
    const done = work
      .catch((error: unknown) => {
        if (!isOver) console.error(error)
      })
      .finally(() => void open.delete(done))
    open.add(done)
  }
  const run = async (): Promise<void> => {
    const { person, key } = callerOf(dice, people)
    const { receipt } = await askWith(origin, { person, key }, dice)
    if (receipt) await maybeShare(dice, origin, { person, key, receipt })
  }
  const timers = [setInterval(() => begin(chain.mine(1)), blockMs)]
  if (everyMs > 0) {
    timers.push(setInterval(() => begin(run()), everyMs))
    timers.push(
      setInterval(() => begin(chain.pay(dice.pick(people).wallet.address, 15)), depositMs),
    )
  }
  return async () => {
    isOver = true
    for (const timer of timers) clearInterval(timer)
    await Promise.race([Promise.all(open), Bun.sleep(1000)])
  }
}
