/** The service of the showcase: first with a clock moved by hand, then as `serve` runs it. */

import { diceOf } from '../../src/app/demo/dice.ts'
import { openPast as openPastService } from '../../src/app/demo/past.ts'
import { openDatabase } from '../../src/app/open-database.ts'
import { openDataSigner, openHeads } from '../../src/app/open-signer.ts'
import { createApp } from '../../src/app/routes.ts'
import { startServer } from '../../src/app/start.ts'
import { deliverer } from '../../src/billing/webhooks/deliver.ts'
import type { Config } from '../../src/config/config.ts'
import { ensureFolder } from '../../src/config/ensure-folder.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { makeIds } from '../../src/kernel/ids.ts'
import type { Log } from '../../src/kernel/log.ts'
import { systemRandom } from '../../src/kernel/random.ts'
import { senderOf } from '../../src/proof/anchors/sender.ts'
import { signerFromHex } from '../../src/proof/signer/signer.ts'
import { serve } from '../../src/web/http/serve.ts'
import { listenEarly } from '../../src/web/http/waiting.ts'
import { senderKey } from '../../test/proof/anchors/anchored.ts'
import type { LocalChain } from './chain.ts'
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
  const { db } = await openDatabase(config, { mayCreate: true })
  const signer = await openDataSigner(config, db, undefined)
  const sender = senderOf(signerFromHex(senderKey))
  return { config, db, signer, log, headFile: openHeads(config), sender }
}

/** A service that is listened to while its time is moved, together with that of its chain. */
export async function openPast(config: Config, chain: LocalChain, start: number) {
  const past = await openPastService(await open(config), {
    start,
    async follow(time, round) {
      if (round === 0) await chain.moveTo(time)
      await chain.mine(round === 0 ? 40 : 2)
    },
    more(deps, elapse) {
      // A post takes its time, but moves no date: else each retry would make the next one due.
      deps.postChecked = receivers(diceOf('past posts'), async (ms) => elapse(ms))
      const deliver = deliverer(deps)
      const never = new AbortController().signal
      // Posts that are on their way arrive.
      return [() => deliver(never), () => Bun.sleep(1)]
    },
  })
  const server = serve(createApp(past.deps), past.deps.settings.listen)
  return {
    ...past,
    async stop(): Promise<void> {
      await server.stop(true)
      await past.close()
    },
  }
}

/** The same data served by the system's clock, with every job of a server. */
export async function openPresent(config: Config) {
  const parts = await open(config)
  const waiting = listenEarly(config.listen, makeIds(systemClock, systemRandom()))
  const running = await startServer(parts, { waiting })
  running.deps.postChecked = receivers(diceOf('posts'), Bun.sleep)
  return running
}
