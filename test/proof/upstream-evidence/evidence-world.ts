import { expect } from 'bun:test'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { scopes } from '../../../src/access/keys/key.ts'
import { evidenceCollector } from '../../../src/proof/upstream-evidence/collect-evidence.ts'
import type { UpstreamEvidenceRow } from '../../../src/storage/db/schema/schema.ts'
import { modelToml } from '../../support/runs.ts'
import { otherKey, upstreamKey } from '../../support/signing-upstream.ts'
import { type Engine, usd, type World, world } from '../../support/world.ts'

/** Holds the key of the upstream, which asks for it also where it serves signatures. */
function secretFile(): string {
  const path = join(mkdtempSync(join(tmpdir(), 'counterfoil-attested-')), 'key')
  writeFileSync(path, 'upstream-secret', { mode: 0o600 })
  return path
}

/** The configuration of an upstream that signs its answers, and of the model `signed/good`. */
export const signedToml = (url: string, keys = [otherKey.address, upstreamKey.address]): string =>
  `[[upstreams]]
id = "enclave"
base_url = "${url}"
api_key_file = "${secretFile()}"
breaker_failures = 0
[upstreams.attest]
scheme = "near-ai"
keys = [${keys.map((key) => `"${key}"`).join(', ')}]
${modelToml('signed/good', '"enclave:good"')}`

/** A service with that upstream; its clock stands until it is advanced. */
export const signedWorld = (url: string, engine: Engine = 'sqlite', keys?: string[]) =>
  world({ engine, toml: signedToml(url, keys as never), now: Date.parse('2026-08-01T12:00:00Z') })

/** A key with money. */
export const payer = async (w: World): Promise<string> =>
  (await w.key({ balance: 100n * usd, scopes: [...scopes] })).secret

/** Runs the model; returns the ids of the run and of its receipt. */
export async function ask(w: World, key: string, more: object = {}) {
  const json = { model: 'signed/good', messages: [{ role: 'user', content: 'yes' }], ...more }
  const answer = await w.call('/v1/chat/completions', { key, json })
  expect(answer.status).toBe(200)
  await answer.text()
  const receiptId = answer.headers.get('x-receipt-id') ?? ''
  if (receiptId !== '') return { receiptId, runId: `run_${receiptId.slice(5)}` }
  const list = await (await w.call('/v1/receipts?limit=1', { key })).json()
  const [{ id, run_id: runId }] = list.data
  return { receiptId: id as string, runId: runId as string }
}

/** One pass of the job. */
export const collect = (w: World) => evidenceCollector(w.deps)(new AbortController().signal)

export const rowOf = async (w: World, runId: string): Promise<UpstreamEvidenceRow> => {
  const row = await w.deps.upstreamEvidence.find(runId)
  if (!row) throw new Error(`${runId} has no row`)
  return row
}
