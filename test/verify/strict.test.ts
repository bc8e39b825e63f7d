import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { readVerifyRequest } from '../../src/verify/input.ts'
import { readJsonText } from '../../src/verify/json-text.ts'
import { redact, sectionNames } from '../../src/verify/receipt.ts'
import { stopwatch } from '../fuzz/run.ts'
import { nightly } from '../support/nightly.ts'
import { program } from '../support/program.ts'
import { promise } from '../support/promise.ts'
import { type SharingWorld, sharingWorld } from '../support/sharing.ts'
import { world } from '../support/world.ts'
import { anchoredFile } from './anchor-samples.ts'
import { failed, judge, set } from './judge.ts'
import { mutantOf, someMutants } from './mutants.ts'
import { proofAt, sampleLog } from './proof-samples.ts'
import { fileOf, testSigner } from './samples.ts'

// Each call of the command is a process, on a busy machine.
setDefaultTimeout(nightly(120_000, 600_000))

const whole = anchoredFile()
const hidden = { ...whole, receipt: redact(whole.receipt, sectionNames), disclosures: undefined }
const files = [fileOf(), whole, hidden, { ...whole, visibility: 'private' }]

/** Judges a text as every verifier reads it. */
const judgeText = (text: string) => {
  const read = readJsonText(text)
  const request = readVerifyRequest(read?.value, read?.repeated)
  if (!request.ok || !('file' in request.request)) return undefined
  return judge(request.request.file, undefined, {}, request.request)
}

const reasonOf = (text: string) => judgeText(text)?.checks[0]?.reason

promise`G14 H: No verifier accepts a file that another program could show differently: with an
  unknown member, or with a member that stands twice.`
describe('a receipt file', () => {
  test.each(files.map((file) => [JSON.stringify(file).length, file]))(
    'of %d bytes is valid, and with any member added or given twice it is not',
    (_, file) => {
      expect(judgeText(JSON.stringify(file))?.valid).toBe(true)
      fc.assert(
        fc.property(mutantOf(file), ({ text }) => {
          expect(judgeText(text)?.valid ?? false).toBe(false)
        }),
        { numRuns: 500 },
      )
    },
  )

  test.each([
    ['receipt', 'a member beside the receipt', '{"total":"0.00",', 'total: unknown member'],
    ['top', 'a receipt twice', '{"receipt":{},', 'receipt: given twice'],
    ['top', 'an escaped copy', '{"\\u0064igest":"0x0",', 'digest: given twice'],
    ['top', 'a prototype', '{"__proto__":{"digest":"0x0"},', '__proto__: unknown member'],
    ['top', 'another visibility', '{"visibility":"all",', 'not private, unlisted or public'],
  ])('%#: the reason names %s: %s', (_, __, start, reason) => {
    expect(reasonOf(JSON.stringify(fileOf()).replace('{', start))).toContain(reason)
  })

  test('names the place of a member that is given twice deep inside', () => {
    const text = JSON.stringify(fileOf()).replace(
      '"meter":"output"',
      '"meter":"o","meter":"output"',
    )
    expect(reasonOf(text)).toBe('receipt.charge.lines[1].meter: given twice')
  })

  test.each([
    ['disclosures.note', 'disclosures.note: unknown member'],
    ['disclosures.input.text', 'disclosures.input.text: unknown member'],
    ['proof.root', 'proof.root: unknown member'],
    ['proof.checkpoint.note', 'proof.checkpoint.note: unknown member'],
    ['proof.anchor.note', 'proof.anchor.note: unknown member'],
  ])('with %s fails the schema', (path, reason) => {
    const file = structuredClone(whole)
    set(file, path, 'x')
    expect([failed(judge(file)), judge(file).checks[0]?.reason]).toEqual([['schema'], reason])
  })

  test('is read strictly inside also where a proof and disclosures beside it replace its own', () => {
    const beside = { proof: proofAt(13), disclosures: fileOf().disclosures }
    expect(judge(whole, undefined, {}, beside).valid).toBe(true)
    for (const path of ['proof.note', 'disclosures.note']) {
      const file = structuredClone(whole)
      set(file, path, 'x')
      expect(failed(judge(file, undefined, {}, beside))).toEqual(['schema'])
    }
  })

  test('with another checkpoint and path beside it takes no unknown member there', () => {
    const log = sampleLog(40)
    const file = { ...fileOf(), proof: proofAt(13) }
    const beside = { checkpoint: log.checkpoint(), consistency: log.consistency(13) }
    expect(judge(file, undefined, {}, beside).valid).toBe(true)
    for (const wrong of [
      { ...beside, consistency: { ...log.consistency(13), note: 1 } },
      { ...beside, checkpoint: { ...log.checkpoint(), note: 1 } },
      { ...beside, checkpoint: { $hash: `0x${'00'.repeat(32)}`, signature: '0x' } },
    ]) {
      expect(failed(judge(file, undefined, {}, wrong))).toEqual(['schema'])
    }
  })

  test('of a MiB, or nested a hundred thousand deep, is read in a moment', () => {
    const deep = `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)},"a":1}`
    const many = `{${Array.from({ length: 90_000 }, (_, i) => `"${i}":1`).join()},"7":2}`
    const spent = stopwatch()
    for (const [text, path] of [
      [deep, 'a'],
      [many, '7'],
      [`{"a":"${'\\"'.repeat(500_000)}","a":1}`, 'a'],
    ] as const) {
      expect(readJsonText(text)?.repeated).toEqual([{ path, message: 'given twice' }])
    }
    expect(spent()).toBeLessThan(2000)
  })
})

promise`G14`
describe('POST /v1/receipts/verify', () => {
  let s: SharingWorld
  beforeAll(async () => {
    s = await sharingWorld('sqlite')
  })
  afterAll(() => s?.w.stop())

  const post = async (body: string) => {
    const headers = { 'content-type': 'application/json' }
    const answer = await s.w.call('/v1/receipts/verify', { method: 'POST', headers, body })
    return { status: answer.status, ...(await answer.json()) }
  }

  test('holds what the server itself writes for valid, and nothing that is added to it', async () => {
    const id = await s.ask('strict')
    const own = await s.own(id)
    expect((await post(JSON.stringify(own))).valid).toBe(true)
    expect((await post(JSON.stringify({ receipt: own }))).valid).toBe(true)
    await s.share(id, { visibility: 'public' })
    const shown = await s.shown(id)
    expect((await post(JSON.stringify(shown))).valid).toBe(true)
    for (const { name, text } of someMutants([own, shown, { receipt: own }], 150)) {
      const { status, valid } = await post(text)
      // The copy of a type can make it another thing, which is refused.
      expect([name, valid === false || status === 422]).toEqual([name, true])
    }
  })

  test('judges a wrapper by its members too, and refuses an id beside others', async () => {
    const own = await s.own(await s.ask('wrapped'))
    const { checks, valid } = await post(JSON.stringify({ receipt: own, digest: own.digest }))
    expect([valid, checks[0]]).toEqual([
      false,
      { name: 'schema', status: 'fail', reason: 'digest: unknown member' },
    ])
    const id = own.receipt.id
    for (const [text, path] of [
      [`{"id":"${id}","id":"${id}"}`, 'id'],
      [JSON.stringify({ id, note: 'x' }), 'note'],
      [JSON.stringify({ id, options: { chain: 'skip', note: 1 } }), 'options.note'],
    ]) {
      const { status, error } = await post(text ?? '')
      expect([status, error.metadata.problems[0].path]).toEqual([422, path])
    }
  })

  test('and POST /mcp refuses a body in which a member stands twice', async () => {
    const w = await world()
    try {
      const body = '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":1,"\\u0061":2}}'
      const headers = {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      }
      const answer = await w.call('/mcp', { method: 'POST', headers, body })
      expect(answer.status).toBe(400)
      expect(JSON.stringify(await answer.json())).toContain('the member params.a twice')
    } finally {
      await w.stop()
    }
  })
})

promise`G14`
describe('the command line', () => {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-strict-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  async function verify(text: string, ...args: string[]) {
    writeFileSync(join(folder, 'r.json'), text)
    const child = Bun.spawn([...program, 'verify', join(folder, 'r.json'), ...args], {
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const stdout = await new Response(child.stdout).text()
    return { code: await child.exited, stdout }
  }
  const signer = ['--signer', testSigner.address]

  test('ends with 0 for valid files, and with 1 or 2 for any that was added to', async () => {
    for (const file of files) expect((await verify(JSON.stringify(file), ...signer)).code).toBe(0)
    for (const { name, text } of someMutants(files, nightly(4, 40))) {
      const { code, stdout } = await verify(text, ...signer)
      expect([name, code === 1 || code === 2, stdout.includes('Verified')]).toEqual([
        name,
        true,
        false,
      ])
    }
  })

  test('sees a member twice in the proof and the anchors beside the file', async () => {
    const proof = join(folder, 'proof.json')
    const text = JSON.stringify(proofAt(13))
    writeFileSync(proof, text)
    const bare = JSON.stringify(fileOf())
    expect((await verify(bare, ...signer, '--proof', proof)).code).toBe(0)
    writeFileSync(proof, text.replace('{', '{"size":"1",'))
    const twice = await verify(bare, ...signer, '--proof', proof)
    expect([twice.code, twice.stdout.includes('size: given twice')]).toEqual([1, true])
  })
})
