/** A service with a clock moved by hand: what a month of use is made through. */
import { depositWatcher } from '../../billing/deposits/watch.ts'
import { planRenewer } from '../../billing/plans/renew.ts'
import { systemClock } from '../../kernel/clock.ts'
import { keepAnchored } from '../../proof/anchors/publish.ts'
import { keepCheckpoint } from '../../proof/log/checkpoint.ts'
import { backgroundSigner } from '../../proof/receipts/sign.ts'
import { receiptCounter } from '../../storage/counts/count.ts'
import { useWasmKeccak } from '../../verify/fast/keccak-wasm.ts'
import { makeDeps, type Parts, type Service } from '../wiring.ts'
import type { Past } from './month.ts'

export type PastService = Past & {
  deps: Service
  /** Stores what is left to store, and closes the database. */
  close(): Promise<void>
}

/** The start, in ms; `follow` moves other clocks before each round of the jobs. */
type PastOptions = {
  start: number
  follow?: (time: number, round: number) => Promise<void>
  /** Further jobs; `elapse` lets time pass that moves no date, in ms. */
  more?: (deps: Service, elapse: (ms: number) => void) => Job[]
}

type Job = () => Promise<unknown>

/** Opens a service whose time stands still unless it is moved; its jobs run when they are asked. */
export async function openPast(
  parts: Parts,
  { start, follow, more }: PastOptions,
): Promise<PastService> {
  useWasmKeccak()
  let time = start
  let passed = 0
  const { monotonic } = parts.clock ?? systemClock
  const clock = { now: () => time, monotonic: () => monotonic() + passed }
  const deps = await makeDeps({ ...parts, clock })
  const elapse = (ms: number): void => {
    passed += ms
  }
  const jobs = [...jobsOf(deps), ...(more?.(deps, elapse) ?? [])]
  const advance = (ms: number): void => {
    time += ms
    elapse(ms)
  }
  return {
    deps,
    advance,
    now: clock.now,
    async tend() {
      for (let round = 0; round < 3; round++) {
        await follow?.(time, round)
        for (const job of jobs) await job()
        advance(20_000)
      }
    },
    async close() {
      await deps.sequencer.flush()
      await deps.sequencer.stop()
      await deps.keys.writeUses()
      deps.heads.stop()
      deps.chain?.close()
      await parts.db.close()
    },
  }
}

/** Numbers, signs, counts, anchors, credits and renews. */
const jobsOf = (deps: Service): Job[] => [
  deps.sequencer.flush,
  backgroundSigner(deps),
  () => keepCheckpoint(deps),
  receiptCounter(deps),
  () => keepAnchored(deps),
  depositWatcher(deps),
  planRenewer(deps),
  () => deps.texts.dropPast(deps.clock.now()),
]
