import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { fromHex } from '../../../src/kernel/hex.ts'
import { verifyConsistency } from '../../../src/verify/merkle.ts'
import {
  type Checkpoint,
  type Consistency,
  logIdOf,
  type Proof,
} from '../../../src/verify/proof.ts'
import { promise } from '../../support/promise.ts'
import { pricedBuiltins } from '../../support/runs.ts'
import { engines, testAccount, usd, type World, world } from '../../support/world.ts'

type Verdict = { valid: boolean; level: string; checks: { name: string; status: string }[] }
type Anchors = {
  data: unknown[]
  log: { id: string; origin: string; size: number; checkpoint: Checkpoint | null }
  registry: null
  consistency?: Consistency
}

const lacks = (index: string) =>
  expect.stringContaining(`has index ${index}, so a log of this size does not contain it`)

for (const engine of engines) {
  describe(`the log over HTTP, on ${engine}`, () => {
    let w: World
    let secret: string
    const roots = new Map<string, string>()

    beforeAll(async () => {
      w = await world({ engine, toml: pricedBuiltins })
      secret = (await w.key({ balance: 10n * usd })).secret
    }, 30_000)
    afterAll(() => w.stop())

    const run = async (): Promise<string> => {
      const json = { model: 'counterfoil/echo-1', input: 'hello' }
      const answer = await w.call('/v1/runs', { key: secret, json })
      return (await answer.json()).receipt.id
    }
    const proofOf = async (id: string, query = ''): Promise<Proof> => {
      const answer = await w.call(`/v1/receipts/${id}/proof${query}`)
      expect(answer.status).toBe(200)
      const proof: Proof = await answer.json()
      roots.set(proof.size, proof.checkpoint.root)
      return proof
    }
    const fileOf = async (id: string) =>
      (await w.call(`/v1/receipts/${id}`, { key: secret })).json()
    const anchors = async (query = ''): Promise<Anchors> => {
      const answer = await w.call(`/v1/anchors${query}`)
      expect(answer.status).toBe(200)
      return answer.json()
    }
    const verify = async (json: unknown): Promise<Verdict> =>
      (await w.call('/v1/receipts/verify', { json })).json()
    const failed = ({ checks }: Verdict) =>
      checks.filter(({ status }) => status === 'fail').map(({ name }) => name)

    test('an empty log says that it is empty and disabled', async () => {
      const { data, log, registry } = await anchors()
      expect([data, log.size, log.checkpoint, registry]).toEqual([[], 0, null, null])
      expect(log.id).toBe(logIdOf(w.deps.settings.issuer))
      const empty = await w.call('/v1/anchors?from=1')
      expect(empty.status).toBe(400)
    })

    test('every receipt is proven at once, to anyone, and its file carries the proof', async () => {
      const ids: string[] = []
      for (let i = 0; i < 9; i++) {
        const id = await run()
        ids.push(id)
        const { proof, ...file } = await fileOf(id)
        const verdict = await verify({ receipt: file, proof: await proofOf(id) })
        expect([i, verdict.valid, verdict.level, failed(verdict)]).toEqual([i, true, 'logged', []])
        expect((await verify({ ...file, proof })).level).toBe('logged')
      }
      // Later the same receipts are proven under the later size.
      const { log } = await anchors()
      for (const [i, id] of ids.entries()) {
        const proof = await proofOf(id)
        // The prices come first: every receipt names them.
        expect([proof.index, proof.size]).toEqual([String(i + log.size - 9), String(log.size)])
        expect((await verify({ receipt: await fileOf(id), proof })).level).toBe('logged')
      }
    })

    promise`G13 H: The proof of a private receipt tells hashes and places only.`
    test('a proof is open to every origin and tells hashes and places only', async () => {
      const id = await run()
      const answer = await w.call(`/v1/receipts/${id}/proof`)
      expect(answer.headers.get('access-control-allow-origin')).toBe('*')
      const proof = await answer.json()
      const hash = expect.stringMatching(/^0x[0-9a-f]{64}$/)
      expect(proof).toEqual({
        type: 'counterfoil.proof',
        version: '1',
        receipt_id: id,
        log_id: hash,
        index: expect.stringMatching(/^\d+$/),
        leaf: hash,
        size: proof.checkpoint.size,
        path: proof.path.map(() => hash),
        checkpoint: {
          issuer: w.deps.settings.issuer,
          size: expect.stringMatching(/^\d+$/),
          root: hash,
          timestamp: expect.stringMatching(/^\d+$/),
          signature: expect.stringMatching(/^0x[0-9a-f]{130}$/),
        },
        anchor: { status: 'disabled' },
      })
      const text = JSON.stringify(proof)
      const { receipt } = await fileOf(id)
      const told = [testAccount, receipt.subject.key, receipt.run.model, receipt.subject.salt]
      for (const word of told) expect(text).not.toContain(word)
      expect(proof.leaf).not.toBe((await fileOf(id)).digest)
    })

    test('any web page may ask: the preflight of both routes is answered', async () => {
      for (const path of ['/v1/receipts/rcpt_1/proof', '/v1/anchors']) {
        const answer = await w.call(path, { method: 'OPTIONS' })
        expect([path, answer.status]).toEqual([path, 204])
        expect(answer.headers.get('access-control-allow-methods')).toBe('GET')
      }
    })

    promise`G13`
    test('the proof of an unknown receipt is the 404 of every unknown one', async () => {
      const told = new Set<string>()
      for (const path of ['rcpt_00000000000000000000000000/proof', 'nonsense/proof', 'nonsense']) {
        const answer = await w.call(`/v1/receipts/${path}`)
        expect(answer.status).toBe(404)
        told.add((await answer.text()).replace(/req_\w{26}/, ''))
      }
      expect(told.size).toBe(1)
    })

    test('size asks for a checkpoint that was signed, and that covers the receipt', async () => {
      const first = await run()
      const { size } = await proofOf(first)
      const last = await run()
      expect((await proofOf(first, `?size=${size}`)).size).toBe(size)
      const { index } = await proofOf(last)
      for (const wrong of [index, '1', '999999', '0', 'x', '-1', `${size}&size=${size}`]) {
        const answer = await w.call(`/v1/receipts/${last}/proof?size=${wrong}`)
        expect([wrong, answer.status]).toEqual([wrong, 400])
        const { error } = await answer.json()
        expect(error.param).toBe('size')
        // The checkpoint of just that size ends before the leaf.
        if (wrong === index) expect([size, error.message]).toEqual([index, lacks(index)])
      }
    })

    test('receipts under the latest checkpoint share it; nothing is signed twice', async () => {
      const ids = [await run(), await run(), await run()]
      // Numbers them all where that is not done by their ends.
      await w.deps.sequencer.flush()
      const proofs = await Promise.all([...ids, ...ids].map((id) => proofOf(id)))
      expect(new Set(proofs.map(({ checkpoint }) => checkpoint.signature)).size).toBe(1)
    })

    test('all checkpoints that were ever seen are consistent', async () => {
      const { log } = await anchors()
      const { checkpoint } = log
      if (!checkpoint) throw new Error('no checkpoint')
      const sizes = [...roots.keys()].map(Number).sort((a, b) => a - b)
      expect(sizes.length).toBeGreaterThan(8)
      for (const from of sizes) {
        const { consistency } = await anchors(`?from=${from}`)
        if (!consistency) throw new Error('no path')
        const claim = {
          from: BigInt(consistency.from),
          to: BigInt(consistency.to),
          fromRoot: fromHex(roots.get(String(from)) ?? ''),
          toRoot: fromHex(checkpoint.root),
          path: consistency.path.map(fromHex),
        }
        expect([consistency.from, consistency.to]).toEqual([String(from), checkpoint.size])
        expect(verifyConsistency(claim)).toBe(true)
      }
      for (const query of ['?from=0', '?from=3&to=2', `?from=1&to=${log.size + 1}`, '?after=x']) {
        expect([query, (await w.call(`/v1/anchors${query}`)).status]).toEqual([query, 400])
      }
    })

    test('an old proof with the path to a new checkpoint shows that nothing was rewritten', async () => {
      const id = await run()
      const proof = await proofOf(id)
      await proofOf(await run())
      const { log, consistency } = await anchors(`?from=${proof.size}`)
      const receipt = await fileOf(id)
      const body = { receipt, proof, checkpoint: log.checkpoint, consistency }
      const verdict = await verify(body)
      const status = (name: string) => verdict.checks.find((check) => check.name === name)?.status
      expect([verdict.valid, status('checkpoint_consistent')]).toEqual([true, 'pass'])
      const other = { ...log.checkpoint, root: proof.checkpoint.root }
      const forged = await verify({ ...body, checkpoint: other })
      expect(failed(forged)).toEqual(['checkpoint_consistent'])
    })

    test('a log that no longer is what was signed signs nothing more, but still reads', async () => {
      const id = await run()
      const proof = await proofOf(id)
      // What was signed at the next size is not what will be there.
      const size = Number(proof.size) + 1
      const signed = { issuer: w.deps.settings.issuer, size, timestamp: 1 }
      const other = { root: new Uint8Array(32), signature: new Uint8Array(65) }
      await w.deps.checkpoints.add({ ...signed, ...other })
      await run()
      const late = await run()
      const answer = await w.call(`/v1/receipts/${late}/proof`)
      expect([answer.status, (await answer.json()).error.type]).toEqual([503, 'log_diverged'])
      expect(w.logged.filter(({ event }) => event === 'log.diverged').length).toBe(1)
      const file = await fileOf(late)
      expect([file.type, file.proof]).toEqual(['counterfoil.receipt', undefined])
      expect((await verify(file)).level).toBe('signed')
      // What was signed before is still proven under its own checkpoint.
      const before = await proofOf(id, `?size=${proof.size}`)
      expect((await verify({ receipt: await fileOf(id), proof: before })).level).toBe('logged')
    })
  })
}
