import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { entriesIn } from '../../../src/verify/log-tiles.ts'
import { leafKinds } from '../../../src/verify/merkle.ts'
import { type EvidenceFile, evidenceDigest } from '../../../src/verify/upstream-evidence.ts'
import { browser, signInWith } from '../../access/accounts/wallet.ts'
import { program } from '../../support/program.ts'
import { promise } from '../../support/promise.ts'
import { until } from '../../support/runs.ts'
import {
  type Seen,
  type SigningUpstream,
  signedBy,
  signingUpstream,
  upstreamKey,
} from '../../support/signing-upstream.ts'
import { engines, type World } from '../../support/world.ts'
import { ask, collect, payer, rowOf, signedWorld } from './evidence-world.ts'

setDefaultTimeout(60_000)

const signer = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'

describe.each(engines)('the evidence of a receipt on %s', (engine) => {
  let upstream: SigningUpstream
  let w: World
  let key: string
  let receiptId: string
  let runId: string

  beforeAll(async () => {
    upstream = await signingUpstream()
    w = await signedWorld(upstream.url, engine)
    key = await payer(w)
    ;({ receiptId, runId } = await attested())
  })
  afterAll(async () => {
    await w.stop()
    upstream.stop()
  })

  async function attested(more: object = {}) {
    const ids = await ask(w, key, more)
    await until('the answer', async () => (await rowOf(w, ids.runId)).answerHash !== null)
    await collect(w)
    expect((await rowOf(w, ids.runId)).state).toBe('attested')
    return ids
  }
  const pathOf = (id: string) => `/v1/receipts/${id}/proof?format=evidence`
  const own = async (id: string): Promise<EvidenceFile> =>
    (await w.call(pathOf(id), { key })).json()
  const share = (id: string, json: object) => w.call(`/v1/receipts/${id}/share`, { key, json })

  test('Its owner gets the statement, the document and the place in the log.', async () => {
    const { statement, document, ...file } = await own(receiptId)
    expect(file).toMatchObject({ type: 'counterfoil.upstream_evidence', version: '1' })
    const [seen] = upstream.seen.values()
    expect(statement).toMatchObject({
      receipt_id: receiptId,
      upstream: 'enclave',
      model: 'good',
      key: upstreamKey.address.toLowerCase(),
      request_sha256: `0x${seen?.request}`,
      answer_sha256: `0x${seen?.answer}`,
    })
    expect(JSON.parse(document).text).toBe(`good:${seen?.request}:${seen?.answer}`)
    const receipt = await (await w.call(`/v1/receipts/${receiptId}`, { key })).json()
    expect(statement.receipt_digest).toBe(receipt.digest)
    // A verifier of before refuses members that it does not know.
    expect(Object.keys(receipt).sort()).toEqual([
      'digest',
      'disclosures',
      'proof',
      'receipt',
      'signature',
      'type',
      'version',
      'visibility',
    ])
  })

  promise`E26 C: The plain hash of a request is shown to others only where the request is, and goes
    when the texts of its receipt are erased.`
  test('Of a private receipt no one else learns anything; with a wrong key neither.', async () => {
    const other = await w.key({ account: `0x${'7'.repeat(40)}` })
    for (const asking of [{}, { key: other.secret }]) {
      const answer = await w.call(pathOf(receiptId), asking)
      expect([answer.status, (await answer.json()).error.type]).toEqual([404, 'receipt_not_found'])
      expect(answer.headers.get('vary')).toBe('authorization')
    }
    const none = await w.call(pathOf(`rcpt_${'0'.repeat(26)}`))
    expect([none.status, (await none.json()).error.type]).toEqual([404, 'receipt_not_found'])
  })

  test('The leaf is in the tiles: a kind and a digest.', async () => {
    const { statement, log } = await own(receiptId)
    const answer = await w.call(`/log/tile/entries/000.p/${log.checkpoint.size}`)
    const entries = entriesIn(
      new Uint8Array(await answer.arrayBuffer()),
      Number(log.checkpoint.size),
    )
    const entry = entries?.[Number(log.index)]
    expect(entry?.[0]).toBe(leafKinds.upstreamEvidence)
    expect(Buffer.from(entry?.subarray(1) ?? []).equals(evidenceDigest(statement))).toBe(true)
  })

  test('POST /v1/receipts/verify names it among the evidence, and finds a forged one.', async () => {
    const receipt = await (await w.call(`/v1/receipts/${receiptId}`, { key })).json()
    const evidence = await own(receiptId)
    const judge = async (more: object) =>
      (await w.call('/v1/receipts/verify', { json: { receipt, ...more } })).json()
    const good = await judge({ evidence })
    expect([good.valid, good.evidence]).toEqual([true, ['signed', 'logged', 'attested']])
    expect((await judge({})).evidence).toEqual(['signed', 'logged'])
    const forged = structuredClone(evidence)
    forged.statement.model = 'better'
    const bad = await judge({ evidence: forged })
    const failed = bad.checks.filter(({ status }: { status: string }) => status === 'fail')
    expect([bad.valid, failed.map(({ name }: { name: string }) => name)]).toEqual([
      false,
      ['attested'],
    ])
  })

  promise`E26`
  test('A shared receipt shows it where its run and its input are shown too.', async () => {
    const { receiptId: id } = await attested()
    const shown = async () => {
      const answer = await w.call(pathOf(id))
      const { error, type } = await answer.json()
      return [answer.status, error?.type ?? type]
    }
    await share(id, { visibility: 'unlisted' })
    expect(await shown()).toEqual([404, 'not_found'])
    const input = { model: 'signed/good', messages: [{ role: 'user', content: 'yes' }] }
    const revealed = {
      visibility: 'unlisted',
      reveal: ['input'],
      disclosures: { input: { value: input } },
    }
    expect((await share(id, { ...revealed, sections: ['charge'] })).status).toBe(200)
    expect(await shown()).toEqual([404, 'not_found'])
    const hidden = await (await w.call('/v1/receipts/verify', { json: { id } })).json()
    expect(hidden.evidence).toEqual(['signed', 'logged'])
    expect((await share(id, revealed)).status).toBe(200)
    expect(await shown()).toEqual([200, 'counterfoil.upstream_evidence'])
    const verdict = await (await w.call('/v1/receipts/verify', { json: { id } })).json()
    expect(verdict.evidence).toEqual(['signed', 'logged', 'attested'])
    const page = await (await w.call(`/receipts/${id}`)).text()
    expect(page).toContain('Evidence of the upstream')
    expect(page).toContain('does not prove that the key lives in an enclave')
    expect(page).toContain('Upstream signed its answer')
  })

  promise`E26`
  test('Erasing deletes the hashes; the leaf and the receipt stay.', async () => {
    const { receiptId: id, runId: run } = await attested()
    const { log } = await own(id)
    expect((await w.call(`/v1/receipts/${id}/erase`, { key, method: 'POST' })).status).toBe(200)
    const row = await rowOf(w, run)
    expect([row.requestHash, row.answerHash, row.document, row.salt]).toEqual([
      null,
      null,
      null,
      null,
    ])
    const answer = await w.call(pathOf(id), { key })
    expect([answer.status, (await answer.json()).error.metadata]).toEqual([
      404,
      { state: 'attested', reason: 'erased' },
    ])
    const entry = await w.call(`/log/tile/entries/000.p/${log.checkpoint.size}`)
    expect(entry.status).toBe(200)
  })

  promise`E26`
  test('What is erased while the upstream is asked is not logged.', async () => {
    const { receiptId: id, runId: run } = await ask(w, key)
    upstream.answerBy(async (response, seen) => {
      await w.call(`/v1/receipts/${id}/erase`, { key, method: 'POST' })
      upstream.answerBy(undefined)
      response.end(JSON.stringify(await signedBy(upstreamKey, upstream.textOf(seen as Seen))))
    })
    await collect(w)
    const row = await rowOf(w, run)
    expect([row.state, row.reason, row.logPlace, row.dueAt]).toEqual(['none', 'erased', null, null])
  })

  test('A run that waits says so, with the reason of the last try.', async () => {
    const { receiptId: id } = await ask(w, key)
    const said = async () => {
      const { error } = await (await w.call(pathOf(id), { key })).json()
      return [error.type, error.metadata]
    }
    expect(await said()).toEqual(['not_found', { state: 'waiting', reason: null }])
    upstream.answerBy((response) => {
      response.statusCode = 404
      response.end('{}')
    })
    await collect(w)
    expect(await said()).toEqual(['not_found', { state: 'waiting', reason: 'not_found' }])
    upstream.answerBy(undefined)
  })

  test('The dashboard shows it, and gives the file to its owner.', async () => {
    const { own: me } = await signedIn()
    const page = await (await me.call(`/dashboard/receipts/${receiptId}`)).text()
    expect(page).toContain('The upstream attested its answer.')
    const answer = await me.call(`/api/portal/receipts/${receiptId}/evidence`)
    expect(answer.headers.get('content-disposition')).toContain(`${receiptId}.evidence.json`)
    expect((await answer.json()).statement).toEqual((await own(receiptId)).statement)
  })
  async function signedIn() {
    const me = browser(w)
    await signInWith(me)
    return { own: me }
  }

  promise`E27`
  test('counterfoil verify checks it offline; any changed byte is found.', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'counterfoil-attested-'))
    try {
      const receipt = join(folder, 'receipt.json')
      const path = join(folder, 'evidence.json')
      writeFileSync(receipt, await (await w.call(`/v1/receipts/${receiptId}`, { key })).text())
      const evidence = await own(receiptId)
      const verify = (file: EvidenceFile, ...args: string[]) => {
        writeFileSync(path, JSON.stringify(file))
        const told = ['verify', receipt, '--signer', signer, '--evidence', path, ...args]
        const { exitCode, stdout } = Bun.spawnSync([...program, ...told])
        return [exitCode, stdout.toString()] as const
      }
      const named = ['--upstream-key', upstreamKey.address]
      const [code, said] = verify(evidence, ...named)
      expect([code, said]).toEqual([0, expect.stringContaining('✓ attested')])
      expect(said).toContain('Rests on: signed, logged, attested upstream.')
      // The operator's word alone is not enough.
      expect(verify(evidence)[0]).toBe(3)
      expect(verify(evidence, '--upstream-key', signer)[0]).toBe(1)
      const forged = structuredClone(evidence)
      forged.document = forged.document.replace(/.{3}$/, (end) => `${end === '0"}' ? '1' : '0'}"}`)
      const [bad, words] = verify(forged, ...named)
      expect([bad, words]).toEqual([1, expect.stringContaining('✗ attested')])
      const policy = join(folder, 'policy.json')
      const rules = { type: 'counterfoil.policy', version: '1', signers: [signer] }
      writeFileSync(policy, JSON.stringify({ ...rules, upstream_keys: [upstreamKey.address] }))
      expect(verify(evidence, '--policy', policy)[0]).toBe(0)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
    expect(runId).toStartWith('run_')
  })
})
