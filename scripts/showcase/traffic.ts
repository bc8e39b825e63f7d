/** Live traffic of the showcase: that of a demonstration, blocks and now and then a deposit. */
import { diceOf } from '../../src/app/demo/dice.ts'
import type { Call, People } from '../../src/app/demo/people.ts'
import { startTraffic as startRuns } from '../../src/app/demo/traffic.ts'
import type { LocalChain } from './chain.ts'

export type Traffic = {
  origin: string
  call: Call
  people: People
  chain: LocalChain
  /** Milliseconds between two runs; none when 0. */
  everyMs: number
}

const blockMs = 2000
const depositMs = 240_000

/** Starts it. Returns what stops it and waits for the calls in flight. */
export function startTraffic({ origin, chain, ...traffic }: Traffic): () => Promise<void> {
  const { people, everyMs } = traffic
  const dice = diceOf(`deposits ${origin}`)
  let isOver = false
  const fail = (error: unknown): void => {
    if (!isOver) console.error(error)
  }
  const log = { error: (_: string, error: unknown) => fail(error) }
  const stopRuns = startRuns({ ...traffic, seed: origin, log })
  const pay = () => chain.pay(dice.pick(people).wallet.address, 15).catch(fail)
  const timers = [setInterval(() => void chain.mine(1).catch(fail), blockMs)]
  if (everyMs > 0) timers.push(setInterval(() => void pay(), depositMs))
  return async () => {
    isOver = true
    for (const timer of timers) clearInterval(timer)
    await stopRuns()
  }
}
