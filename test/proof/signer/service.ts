import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { issueKey } from '../../../src/access/keys/issue.ts'
import type { Deps } from '../../../src/app/deps-port.ts'
import { createApp } from '../../../src/app/routes.ts'
import { makeDeps } from '../../../src/app/wiring.ts'
import { loadConfig } from '../../../src/config/config.ts'
import { grantCredit } from '../../../src/ledger/grant.ts'
import type { Signer } from '../../../src/proof/signer/signer.ts'
import type { Db } from '../../../src/storage/db/engine/db.ts'
import { dropLeases } from '../../../src/storage/db/engine/lease.ts'
import type { ReadFile } from '../../../src/verify/read-tiles.ts'
import { serve } from '../../../src/web/http/serve.ts'
import { pricedBuiltins } from '../../support/runs.ts'
import { testAccount, usd } from '../../support/world.ts'

export type Service = Awaited<ReturnType<typeof serviceOn>>

export type Verdict = {
  valid: boolean
  level: string | null
  checks: { name: string; status: string; reason: string }[]
}

/** A server of a signer on a database that outlives it; `given` is a key from before a restart. */
export async function serviceOn(db: Db, signer: Signer, given?: string) {
  const inputs = { flags: {}, env: {}, filePath: 'test.toml', readFile: () => undefined }
  const loaded = loadConfig({ ...inputs, fileText: pricedBuiltins })
  if ('problems' in loaded) throw new Error(loaded.problems.join('\n'))
  const { config } = loaded
  config.listen.port = 0
  const quiet = () => {}
  const log = { debug: quiet, info: quiet, warn: quiet, error: quiet }
  const deps = await makeDeps({ config, db, signer, log })
  const server = serve(createApp(deps), deps.settings.listen)
  const origin = `http://localhost:${server.port}`
  const secret = given ?? (await makeKey(deps))
  const call = async (path: string, json?: unknown) => {
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
    const body = json === undefined ? {} : { method: 'POST', body: JSON.stringify(json) }
    return (await fetch(origin + path, { headers, ...body })).json()
  }
  return {
    deps,
    secret,
    call,
    /** Reads the files of a log by the path of the log. */
    open:
      (prefix: string): ReadFile =>
      async (path) => {
        const answer = await fetch(`${origin}${prefix}/${path}`)
        const bytes = new Uint8Array(await answer.arrayBuffer())
        return answer.ok ? bytes : undefined
      },
    /** Runs something and gives its receipt's file, with its proof. */
    receipt: async () => {
      const answer = await call('/v1/runs', { model: 'counterfoil/echo-1', input: 'hello' })
      return call(`/v1/receipts/${answer.receipt.id}`)
    },
    verify: (file: unknown): Promise<Verdict> => call('/v1/receipts/verify', file),
    stop: async () => {
      await server.stop(true)
      await deps.sequencer.flush()
      await deps.sequencer.stop()
      await dropLeases(db, deps.settings.node)
    },
  }
}

async function makeKey(deps: Deps): Promise<string> {
  const account = testAccount
  await grantCredit(deps, { account, amount: usd, reason: 'test', actor: 'test' })
  const wish = { account, name: 'test', capLimit: usd, actor: 'test' }
  return (await issueKey(deps, { ...wish, capWindow: 'lifetime' })).secret
}

/** What is wrong with a receipt, by the names of the checks. */
export const failed = ({ checks }: Verdict): string[] =>
  checks.filter(({ status }) => status === 'fail').map(({ name }) => name)

/** A folder for keys. */
export function keyFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-keys-'))
  return { folder, drop: () => rmSync(folder, { recursive: true, force: true }) }
}
