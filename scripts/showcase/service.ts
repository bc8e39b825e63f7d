/** The service of the showcase: first with a clock moved by hand, then as `serve` runs it. */
import { openDatabase } from '../../src/app/open-database.ts'
import { openDataSigner, openHeads } from '../../src/app/open-signer.ts'
import { createApp } from '../../src/app/routes.ts'
import { startServer } from '../../src/app/start.ts'
import { makeDeps, type Service } from '../../src/app/wiring.ts'
import { depositWatcher } from '../../src/billing/deposits/watch.ts'
import { planRenewer } from '../../src/billing/plans/renew.ts'
import type { Config } from '../../src/config/config.ts'
import { ensureFolder } from '../../src/config/ensure-folder.ts'
import { deliverer } from '../../src/front/webhooks/deliver.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { makeIds } from '../../src/kernel/ids.ts'
import type { Log } from '../../src/kernel/log.ts'
import { systemRandom } from '../../src/kernel/random.ts'
import { keepAnchored } from '../../src/proof/anchors/publish.ts'
import { senderOf } from '../../src/proof/anchors/sender.ts'
import { keepCheckpoint } from '../../src/proof/log/checkpoint.ts'
import { backgroundSigner } from '../../src/proof/receipts/sign.ts'
import { signerFromHex } from '../../src/proof/signer/signer.ts'
import { receiptCounter } from '../../src/storage/counts/count.ts'
import { useWasmKeccak } from '../../src/verify/fast/keccak-wasm.ts'
import { serve } from '../../src/web/http/serve.ts'
import { listenEarly } from '../../src/web/http/waiting.ts'
import { senderKey } from '../../test/anchors/anchored.ts'
import type { LocalChain } from './chain.ts'
import { diceOf } from './dice.ts'
import { receivers } from './receivers.ts'

const quiet = (): void => {}

/** Writes errors alone, and only what the showcase does not cause on purpose. */
const log: Log = {
  debug: quiet,
  info: quiet,
  warn: quiet,
  error: (event, error, fields) => console.error(event, error, fields ?? ''),
}

async function open(config: Config) {
  ensureFolder(config.data, 'data')
  const { db } = await openDatabase(config)
  const signer = await openDataSigner(config, db, undefined)
  const sender = senderOf(signerFromHex(senderKey))
  return { config, db, signer, log, headFile: openHeads(config), sender }
}

export type Past = Awaited<ReturnType<typeof openPast>>

/** A service whose time stands still unless it is moved; its jobs run when they are asked to. */
export async function openPast(config: Config, chain: LocalChain, start: number) {
  useWasmKeccak()
  const parts = await open(config)
  let time = start
  let passed = 0
  const clock = { now: () => time, monotonic: () => performance.now() + passed }
  const advance = (ms: number): void => {
    time += ms
    passed += ms
  }
  const deps = await makeDeps({ ...parts, clock })
  // A post takes its time, but moves no date: else each retry would make the next one due.
  deps.postChecked = receivers(diceOf('past posts'), async (ms) => {
    passed += ms
  })
  const server = serve(createApp(deps), deps.settings.listen)
  const jobs = jobsOf(deps)
  return {
    advance,
    now: clock.now,
    /** Runs the jobs of a server once: numbers, counts, anchors, credits and renews. */
    async tend(): Promise<void> {
      await chain.moveTo(time)
      for (let round = 0; round < 3; round++) {
        await chain.mine(round === 0 ? 40 : 2)
        for (const job of jobs) await job()
        // Posts that are on their way arrive.
        await Bun.sleep(1)
        advance(20_000)
      }
    },
    async stop(): Promise<void> {
      await server.stop(true)
      await deps.sequencer.flush()
      await deps.sequencer.stop()
      await deps.keys.writeUses()
      deps.heads.stop()
      deps.chain?.close()
      await parts.db.close()
    },
  }
}

const jobsOf = (deps: Service): (() => Promise<unknown>)[] => {
  const deliver = deliverer(deps)
  const never = new AbortController().signal
  return [
    deps.sequencer.flush,
    backgroundSigner(deps),
    () => keepCheckpoint(deps),
    receiptCounter(deps),
    () => keepAnchored(deps),
    depositWatcher(deps),
    planRenewer(deps),
    () => deps.texts.dropPast(deps.clock.now()),
    () => deliver(never),
  ]
}

/** The same data served by the system's clock, with every job of a server. */
export async function openPresent(config: Config) {
  const parts = await open(config)
  const waiting = listenEarly(config.listen, makeIds(systemClock, systemRandom()))
  const running = await startServer(parts, { waiting })
  running.deps.postChecked = receivers(diceOf('posts'), Bun.sleep)
  return running
}
