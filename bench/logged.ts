/**
 * `bun bench/logged.ts [postgres://…]`: from the last byte of an answer to a proof of its receipt
 * in hand, over HTTP, alone and under load; on SQLite, or on an empty database of a server.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { issueKey } from '../src/access/keys/issue.ts'
import { openDatabase } from '../src/app/open-database.ts'
import { createApp } from '../src/app/routes.ts'
import { makeDeps } from '../src/app/wiring.ts'
import { loadConfig } from '../src/config/config.ts'
import { systemRandom } from '../src/kernel/random.ts'
import { grantCredit } from '../src/ledger/grant.ts'
import { signerFromHex } from '../src/proof/signer/signer.ts'
import { useWasmKeccak } from '../src/verify/fast/keccak-wasm.ts'
import { serve } from '../src/web/http/serve.ts'

const folder = mkdtempSync(join(tmpdir(), 'counterfoil-logged-'))
const url = Bun.argv[2] ?? `sqlite:${join(folder, 'counterfoil.db')}`
const loaded = loadConfig({
  flags: { databaseUrl: url, data: folder },
  env: {},
  fileText: undefined,
  filePath: '',
  readFile: () => undefined,
})
if ('problems' in loaded) throw new Error(loaded.problems.join('\n'))
useWasmKeccak()
const { config } = loaded
config.listen = { hostname: '127.0.0.1', port: 0 }
const { db } = await openDatabase(config, { mayCreate: true })
const log = { debug() {}, info() {}, warn() {}, error: console.error }
const signer = signerFromHex(Buffer.from(systemRandom().bytes(32)).toString('hex'))
const deps = await makeDeps({ config, db, signer, log })
const server = serve(createApp(deps), config.listen)
const origin = `http://localhost:${server.port}`
deps.settings.baseUrl = origin
const account = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
await grantCredit(deps, { account, amount: 1_000_000_000n, reason: 'bench', actor: 'bench' })
const wish = { account, name: 'bench', capLimit: 1_000_000_000n, actor: 'bench' }
const { secret } = await issueKey(deps, { ...wish, capWindow: 'lifetime' })

const body = JSON.stringify({ model: 'counterfoil/echo-1', input: 'hello' })
const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }

console.log('at once   runs   median ms   99 % ms   worst ms')
for (const atOnce of [1, 32]) {
  const waits: number[] = []
  await Promise.all(Array.from({ length: atOnce }, () => measure(waits, 320 / atOnce)))
  waits.sort((a, b) => a - b)
  const at = (share: number) => (waits[Math.floor(share * (waits.length - 1))] ?? 0).toFixed(1)
  const cells = [
    [atOnce, 7],
    [waits.length, 7],
    [at(0.5), 12],
    [at(0.99), 10],
    [at(1), 11],
  ] as const
  console.log(cells.map(([value, width]) => String(value).padStart(width)).join(''))
}
await server.stop(true)
await deps.sequencer.stop()
await db.close()
rmSync(folder, { recursive: true, force: true })

/** Runs, and asks for each proof as soon as the answer is there until there is one. */
async function measure(waits: number[], runs: number): Promise<void> {
  for (let i = 0; i < runs; i++) {
    const answer = await fetch(`${origin}/v1/runs`, { method: 'POST', headers, body })
    if (answer.status !== 200) throw new Error(await answer.text())
    const { receipt } = (await answer.json()) as { receipt: { id: string } }
    const from = performance.now()
    for (;;) {
      const proof = await fetch(`${origin}/v1/receipts/${receipt.id}/proof`)
      await proof.text()
      if (proof.status === 200) break
    }
    waits.push(performance.now() - from)
  }
}
