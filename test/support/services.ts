import { issueKey } from '../../src/access/keys/issue.ts'
import { type RunningService, startServer } from '../../src/app/start.ts'
import type { Log } from '../../src/kernel/log.ts'
import { grantCredit } from '../../src/ledger/grant.ts'
import { signerFromHex } from '../../src/proof/signer/signer.ts'
import type { Db } from '../../src/storage/db/engine/db.ts'
import { type Call, callAt } from './call.ts'
import { configOf, testAccount, testPrivateKey, usd } from './world.ts'

/** The public name of the service that all nodes of a test are. */
const serviceName = 'https://gw.example'

/** A whole server of several on one database, with its jobs and a clock that can be wrong. */
export type Node = {
  running: RunningService
  deps: RunningService['deps']
  origin: string
  /** Sets the wall clock this far ahead of the right time, in ms. */
  setClock(aheadMs: number): void
  /** The events that were logged, oldest first. */
  logged: string[]
  call: Call
  stop(): Promise<void>
}

type NodeOptions = { toml?: string; aheadMs?: number; baseUrl?: string }

/** Starts a node on a database that other nodes use too, which outlives it. */
export async function startNode(
  db: Db,
  { toml = '', aheadMs = 0, baseUrl = serviceName }: NodeOptions = {},
): Promise<Node> {
  let skew = aheadMs
  const logged: string[] = []
  const config = configOf(`base_url = "${baseUrl}"\nlisten = "127.0.0.1:0"\n${toml}`)
  const running = await startServer({
    config,
    db: { ...db, close: async () => {} },
    signer: signerFromHex(testPrivateKey),
    log: recording(logged),
    clock: { now: () => Date.now() + skew, monotonic: () => performance.now() },
  })
  const { deps } = running
  const origin = `http://127.0.0.1:${deps.settings.listen.port}`
  return {
    running,
    deps,
    origin,
    setClock: (ms) => {
      skew = ms
    },
    logged,
    call: (path, init) => callAt(origin, path, init),
    stop: () => running.stop(0),
  }
}

/** A funded key, made by a node. */
export async function fundedKey({ deps }: Pick<Node, 'deps'>): Promise<string> {
  const account = testAccount
  await grantCredit(deps, { account, amount: 100n * usd, reason: 'test', actor: 'test' })
  const wish = { account, name: 'test', capLimit: 100n * usd, actor: 'test' }
  return (await issueKey(deps, { ...wish, capWindow: 'lifetime' })).secret
}

function recording(logged: string[]): Log {
  const note = (event: string) => void logged.push(event)
  return { debug: note, info: note, warn: note, error: note }
}
