import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabase } from '../../src/app/open-database.ts'
import { openHeads } from '../../src/app/open-signer.ts'
import { startServer } from '../../src/app/start.ts'
import type { WebhookConfig } from '../../src/config/webhook-entries.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { makeIds } from '../../src/kernel/ids.ts'
import { systemRandom } from '../../src/kernel/random.ts'
import { signerFromHex } from '../../src/proof/signer/signer.ts'
import { listenEarly } from '../../src/web/http/waiting.ts'
import { callAt } from './call.ts'
import { fundedKey } from './services.ts'
import { configOf, testPrivateKey } from './world.ts'

export type Node = Awaited<ReturnType<typeof startNode>>

type NodeOptions = {
  data: string
  url?: string
  /** Of the operator; they may go to loopback. */
  webhooks?: WebhookConfig[]
}

/** A whole server in this process, with its jobs and a data folder, on a database that may be shared. */
export async function startNode({ data, url, webhooks = [] }: NodeOptions) {
  mkdirSync(data, { recursive: true, mode: 0o700 })
  const database_url = url ?? `sqlite:${join(data, 'counterfoil.db')}`
  const listen = { hostname: '127.0.0.1', port: 0 }
  const config = { ...configOf(''), data, database_url, listen, webhooks }
  const logged: { event: string; fields: unknown; error?: unknown }[] = []
  const note = (event: string, fields?: unknown) => void logged.push({ event, fields })
  const log = {
    ...{ debug: note, info: note, warn: note },
    error: (event: string, error: unknown, fields?: unknown) =>
      void logged.push({ event, fields, error }),
  }
  const waiting = listenEarly(listen, makeIds(systemClock, systemRandom()))
  const { db } = await openDatabase(config, { mayCreate: true })
  const signer = signerFromHex(testPrivateKey)
  const running = await startServer(
    { config, db, signer, log, headFile: openHeads(config) },
    { waiting },
  )
  const { deps } = running
  if (webhooks.length > 0) deps.settings.webhookReach = { allowed: [], isLoopbackAllowed: true }
  const origin = `http://localhost:${listen.port}`
  deps.settings.baseUrl = origin
  const call = (path: string, key?: string, json?: unknown) => callAt(origin, path, { key, json })
  return {
    deps,
    db,
    logged,
    config,
    call,
    key: (): Promise<string> => fundedKey({ deps }),
    /** Runs something and gives the id of its receipt. */
    run: async (key: string): Promise<string> => {
      const answer = await call('/v1/runs', key, { model: 'counterfoil/echo-1', input: 'hello' })
      const body = await answer.json()
      if (answer.status !== 200) throw new Error(`${answer.status} ${JSON.stringify(body)}`)
      return body.receipt.id
    },
    events: () => logged.map(({ event }) => event),
    stop: () => running.stop(0),
  }
}
