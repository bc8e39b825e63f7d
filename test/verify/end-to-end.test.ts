import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import verifierFile from '../../contracts/ReceiptVerifier.json'
import { askRegistry } from '../../src/proof/receipts/evidence.ts'
import { verifyPage } from '../../src/proof/receipts/verify-page.ts'
import type { Proof } from '../../src/verify/proof.ts'
import { type ReceiptFile, redact, sectionNames } from '../../src/verify/receipt.ts'
import { type Verdict, verifyReceipt } from '../../src/verify/verify.ts'
import { noAnvil } from '../contracts/anvil.ts'
import type { Contract } from '../contracts/chain.ts'
import { hashedForm } from '../contracts/receipt-form.ts'
import { type Anchored, anchoredWorld, senderAddress } from '../proof/anchors/anchored.ts'
import { noChromium, startChromium } from '../support/chromium.ts'
import { program } from '../support/program.ts'
import { promise } from '../support/promise.ts'
import { failed, set } from './judge.ts'

// A chain, a command line and a browser on a busy machine.
setDefaultTimeout(120_000)

type Proven = ReceiptFile & { proof: Proof }

describe.skipIf(noAnvil)('a receipt of a running server with a chain', () => {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-end-'))
  let a: Anchored
  let verifier: Contract
  let signer = ''
  /** Three receipts under one anchor. */
  let ids: string[] = []
  let file: Proven

  beforeAll(async () => {
    a = await anchoredWorld()
    verifier = await a.chain.deploy(verifierFile)
    signer = (await (await a.call('/v1/signer')).json()).address
    ids = [await a.receipts(1), await a.receipts(1), await a.receipts(1)]
  })
  afterAll(async () => {
    await a?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const fileOf = async (id: string | undefined): Promise<Proven> =>
    (await a.call(`/v1/receipts/${id}`, { key: a.secret })).json()
  const ask = async (json: unknown): Promise<Verdict> =>
    (await a.call('/v1/receipts/verify', { json })).json()
  const statuses = ({ checks }: Verdict) =>
    Object.fromEntries(checks.map(({ name, status }) => [name, status]))

  /** The worker and the chain go on until the newest anchor has come so far. */
  async function until(status: string): Promise<void> {
    for (let i = 0; i < 30; i++) {
      await a.look()
      if ((await a.anchors()).at(-1)?.startsWith(status)) return
      if (status === 'final') await a.rpc('evm_mine')
      a.advance(1000)
    }
    throw new Error(`no anchor became ${status}: ${await a.anchors()}`)
  }

  /** Runs the command line with the file alone, away from the server's data. */
  async function cli(name: string, ...args: string[]) {
    // From the project's folder, whose settings of TypeScript its source needs.
    const root = join(import.meta.dir, '../..')
    const command = [...program, 'verify', join(folder, name), ...args]
    const run = Bun.spawn(command, { cwd: root, stdout: 'pipe', stderr: 'pipe' })
    const [stdout, stderr] = await Promise.all([
      new Response(run.stdout).text(),
      new Response(run.stderr).text(),
    ])
    return { code: await run.exited, stdout, stderr }
  }

  test('goes from logged to anchored to final, by the server’s own question to the chain', async () => {
    const logged = await ask(await fileOf(ids[0]))
    expect([logged.valid, logged.level, statuses(logged)['anchor']]).toEqual([
      true,
      'logged',
      'skip',
    ])
    await until('confirmed')
    const anchored = await ask(await fileOf(ids[1]))
    expect([anchored.valid, anchored.level]).toEqual([true, 'anchored'])
    expect(
      (await ask({ receipt: await fileOf(ids[1]), options: { chain: 'require' } })).valid,
    ).toBe(false)
    await until('final')
    file = await fileOf(ids[2])
    expect(file.proof.anchor.status).toBe('final')
    const final = await ask({ receipt: file, options: { chain: 'require' } })
    expect([final.valid, final.level, failed(final)]).toEqual([true, 'final', []])
    expect(final.does_not_prove).not.toContain(
      'that the operator cannot drop or rewrite the log later',
    )
    const skipped = await ask({ receipt: file, options: { chain: 'skip' } })
    expect([skipped.level, statuses(skipped)['anchor']]).toEqual(['logged', 'skip'])
    writeFileSync(join(folder, 'receipt.json'), JSON.stringify(file))
  })

  test('in TypeScript: final, in every redaction; any other word of the chain fails', async () => {
    const { chain } = a.deps
    if (!chain) throw new Error('the service has no chain')
    const place = { chain, registry: a.registry.address, owner: senderAddress }
    const evidence = await askRegistry(place, { proof: file.proof, signer })
    if (evidence.status !== 'read') throw new Error(evidence.reason)
    const judge = (given: unknown, by = evidence) =>
      verifyReceipt(
        { file: given },
        { signers: [{ address: signer }], chain: by },
        { chain: 'auto' },
      )
    for (let bits = 0; bits < 32; bits++) {
      const hidden = sectionNames.filter((_, i) => bits & (1 << i))
      const verdict = judge({ ...file, receipt: redact(file.receipt, hidden) })
      expect([hidden, verdict.valid, verdict.level]).toEqual([hidden, true, 'final'])
    }
    const other: `0x${string}` = `0x${'12'.repeat(32)}`
    const stranger = await askRegistry(
      { ...place, owner: a.registry.address },
      { proof: file.proof, signer },
    )
    if (stranger.status !== 'read') throw new Error(stranger.reason)
    for (const change of [
      { root: other },
      { root: null },
      { log: other },
      { size: '1' },
      stranger,
    ]) {
      expect(failed(judge(file, { ...evidence, ...change }))).toEqual(['anchor', 'anchor_final'])
    }
  })

  test('at the command line: offline logged, with --rpc final, and never by the file’s word', async () => {
    const offline = await cli('receipt.json', '--signer', signer)
    expect([offline.code, offline.stderr]).toEqual([0, ''])
    expect(offline.stdout).toMatch(/^\? anchor +The chain was not asked/m)
    expect(offline.stdout).toMatch(/^Signed and logged\. Signed by 0x/m)
    const rpc = ['--signer', signer, '--rpc', a.chain.url, '--registry', a.registry.address]
    for (const owner of [[], ['--owner', senderAddress]]) {
      const asked = await cli('receipt.json', ...rpc, ...owner, '--require-chain')
      expect([asked.code, asked.stderr]).toEqual([0, ''])
      expect(asked.stdout).toMatch(/^Final\. Signed by 0x/m)
      expect(asked.stdout.includes("is only the file's claim")).toBe(owner.length === 0)
    }
    const wrong = { ...file, proof: { ...file.proof, anchor: { ...file.proof.anchor } } }
    set(wrong, 'proof.anchor.log_owner', a.registry.address)
    writeFileSync(join(folder, 'wrong.json'), JSON.stringify(wrong))
    expect((await cli('wrong.json', ...rpc)).code).toBe(1)
    const noRegistry = ['--signer', signer, '--rpc', a.chain.url, '--registry', senderAddress]
    const unsure = await cli('receipt.json', ...noRegistry, '--require-chain')
    expect([unsure.code, unsure.stdout.includes('there is no anchor registry')]).toEqual([3, true])
    const noSigner = await cli(
      'receipt.json',
      '--rpc',
      a.chain.url,
      '--registry',
      a.registry.address,
    )
    expect([noSigner.code, /✓ anchor /.test(noSigner.stdout)]).toEqual([3, true])
  })

  promise`G8`
  test('in Solidity: the same digest, the same signer, the same path', async () => {
    const { proof, receipt, signature, digest } = file
    const log = await a.registry.read('logIdOf', senderAddress, receipt.issuer)
    const place = { size: BigInt(proof.size), index: BigInt(proof.index), path: proof.path }
    const form = hashedForm(receipt)
    const call = [a.registry.address, log, form, signature, place] as const
    expect(await verifier.read('verify', ...call)).toEqual([digest, signer])
    const moved = { ...place, index: place.index - 1n }
    const args = [a.registry.address, log, form, signature, moved]
    expect(await verifier.refusal(senderAddress, 'verify', ...args)).toEqual(['NotInLog'])
  })

  test.skipIf(noChromium)('in the offline page in Chromium, which asks no one', async () => {
    writeFileSync(join(folder, 'page.html'), verifyPage)
    const browser = await startChromium()
    try {
      const page = await (await browser.newContext({ offline: true })).newPage()
      const asked: string[] = []
      page.on('request', (request) => asked.push(request.url()))
      await page.goto(`file://${join(folder, 'page.html')}`)
      await page.getByLabel('Which signers do you trust?').fill(signer)
      await page.getByLabel('Drop a receipt file here').setInputFiles(join(folder, 'receipt.json'))
      await page.getByRole('heading', { name: 'Signed and logged' }).waitFor()
      const shown = await page
        .locator('[data-check]')
        .evaluateAll((all) =>
          all.map((one) => [one.getAttribute('data-check'), one.getAttribute('data-status')]),
        )
      const trust = { signers: [{ address: signer }] }
      const offline = verifyReceipt({ file }, trust, { chain: 'auto' })
      expect(Object.fromEntries(shown)).toEqual(statuses(offline))
      expect(asked).toHaveLength(1)
    } finally {
      await browser.close()
    }
  })

  test('when the chain is down, nothing passes that was not read, and it says so in time', async () => {
    await a.chain.stop()
    const down = await ask(await fileOf(ids[0]))
    expect([down.valid, down.level, statuses(down)['anchor']]).toEqual([
      true,
      'logged',
      'unavailable',
    ])
    const requiring = () => ask({ receipt: file, options: { chain: 'require' } })
    let required = await requiring()
    // What the chain said before is remembered for two seconds.
    for (let i = 0; required.valid && i < 50; i++) {
      await Bun.sleep(100)
      required = await requiring()
    }
    expect([required.valid, failed(required)]).toEqual([false, []])
  })
})
