import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Home, makeHome, noBinary, someAccount } from '../support/binary.ts'

// Each call of the command is a process, on a busy machine.
setDefaultTimeout(60_000)

const run = { model: 'counterfoil/echo-1', input: 'hello' }

describe.skipIf(noBinary)('verify, offline', () => {
  let home: Home
  let signer = ''
  let receipt = ''
  beforeAll(async () => {
    home = await makeHome()
    const server = await home.start({ args: ['--dev'] })
    const key = /^COUNTERFOIL_KEY=(\S+)$/m.exec(await Bun.file(home.printed.stdout).text())?.[1]
    expect(key).toBeDefined()
    const made = await server.call('/v1/runs', { key: key ?? '', json: run })
    const saved = await made.text()
    const { receipt: link } = JSON.parse(saved) as { receipt: { id: string } }
    receipt = await (await server.call(`/v1/receipts/${link.id}`, { key: key ?? '' })).text()
    const { proof } = JSON.parse(receipt) as { proof: { size: string } }
    const anchors = `/v1/anchors?from=${proof.size}`
    const asked = { proof: `/v1/receipts/${link.id}/proof`, anchors }
    for (const [name, path] of Object.entries(asked)) {
      writeFileSync(join(home.folder, `${name}.json`), await (await server.call(path)).text())
    }
    signer = (await server.get('/v1/signer')).address
    await server.stop()
    writeFileSync(join(home.folder, 'good.json'), receipt)
    writeFileSync(join(home.folder, 'answer.json'), saved)
    writeFileSync(join(home.folder, 'text.json'), 'hello')
    writeFileSync(join(home.folder, 'other.json'), '{"type":"something.else"}')
  })
  afterAll(() => home?.remove())

  const verify = (...args: string[]) => home.cli('verify', ...args)

  test('0: every check passed and a trusted signer signed it', async () => {
    const done = await verify('good.json', '--signer', signer)
    expect([done.code, done.stdout]).toEqual([0, expect.stringContaining(`Signed by ${signer}.`)])
    const told = await verify('good.json', '--signer', signer.toLowerCase(), '--json')
    expect([told.code, told.stderr, JSON.parse(told.stdout).valid]).toEqual([0, '', true])
  })

  test('the proof in the file or beside it puts the receipt in the log', async () => {
    const { proof: inside, ...bare } = JSON.parse(receipt)
    expect(inside.anchor).toEqual({ status: 'disabled' })
    writeFileSync(join(home.folder, 'bare.json'), JSON.stringify(bare))
    const signed = await verify('bare.json', '--signer', signer)
    expect([signed.code, /^Verified\. Signed by 0x/m.test(signed.stdout)]).toEqual([0, true])
    const beside = ['bare.json', '--proof', 'proof.json', '--signer', signer]
    for (const args of [beside, ['good.json', '--signer', signer]]) {
      const logged = await verify(...args)
      expect([logged.code, /^Signed and logged\. Signed/m.test(logged.stdout)]).toEqual([0, true])
    }
    const compared = await verify(...beside, '--anchors', 'anchors.json')
    expect(compared.stdout).toContain('✓ checkpoint_consistent')
    expect((await verify('good.json', '--proof', 'good.json', '--signer', signer)).code).toBe(1)
    for (const option of ['--proof', '--anchors']) {
      expect((await verify('good.json', option, 'text.json', '--signer', signer)).code).toBe(2)
    }
  })

  test('--answer checks a saved answer against the commitment of its receipt', async () => {
    const good = await verify('good.json', '--answer', 'answer.json', '--signer', signer)
    expect([good.code, good.stdout]).toEqual([0, expect.stringContaining('✓ content_output')])
    const saved = await Bun.file(join(home.folder, 'answer.json')).text()
    writeFileSync(join(home.folder, 'changed.json'), saved.replace('hello', 'hullo'))
    const bad = await verify('good.json', '--answer', 'changed.json', '--signer', signer)
    expect([bad.code, bad.stdout]).toEqual([1, expect.stringContaining('✗ content_output')])
    const { disclosures: _, ...bare } = JSON.parse(receipt)
    writeFileSync(join(home.folder, 'saltless.json'), JSON.stringify(bare))
    const unsalted = await verify('saltless.json', '--answer', 'answer.json', '--signer', signer)
    expect([unsalted.code, unsalted.stderr]).toEqual([2, expect.stringContaining('salt')])
    for (const none of ['text.json', 'nothing.json', 'other.json']) {
      expect((await verify('good.json', '--answer', none, '--signer', signer)).code).toBe(2)
    }
  })

  test('1: one digit changed, or someone else signed it', async () => {
    expect((await verify('good.json', '--signer', someAccount)).code).toBe(1)
    const forged = join(home.folder, 'forged.json')
    let digits = 0
    // What is signed and the signature; salts of texts that are not shown prove nothing.
    const signed = receipt.slice(0, receipt.indexOf('"disclosures"'))
    for (const { 0: digit, index } of signed.matchAll(/\d/g)) {
      if (digits++ % 20 !== 0) continue
      const other = String((Number(digit) + 1) % 10)
      writeFileSync(forged, receipt.slice(0, index) + other + receipt.slice(index + 1))
      const { code } = await verify('forged.json', '--signer', signer)
      expect([signed.slice(index - 30, index + 5), code]).toEqual([expect.any(String), 1])
    }
    expect(digits).toBeGreaterThan(100)
  }, 60_000)

  test('2: no receipt; 3: no one was named as trusted', async () => {
    for (const file of ['text.json', 'other.json', 'nothing.json', '.']) {
      expect((await verify(file, '--signer', signer)).code).toBe(2)
    }
    expect((await verify('good.json', '--signer', '0x12')).code).toBe(2)
    const untold = await verify('good.json')
    expect([untold.code, untold.stderr.includes(signer)]).toEqual([3, true])
    expect(untold.stdout).not.toMatch(/^(Verified|Signed|Anchored|Final)/m)
  })

  test('3: the chain is required, and no one was named to ask', async () => {
    const required = await verify('good.json', '--signer', signer, '--require-chain')
    expect([required.code, required.stdout.includes('✗')]).toEqual([3, false])
  })

  test('2: the chain is asked only by a server and a registry that the reader names', async () => {
    const asked = ['good.json', '--signer', signer]
    const registry = someAccount
    for (const wrong of [
      ['--rpc', 'http://127.0.0.1:9'],
      ['--registry', registry],
      ['--owner', registry],
      ['--rpc', 'file:///etc/passwd', '--registry', registry],
      ['--rpc', 'http://127.0.0.1:9', '--registry', '0x12'],
    ]) {
      const done = await verify(...asked, ...wrong)
      expect([wrong, done.code, done.stdout]).toEqual([wrong, 2, ''])
    }
  })

  test('a chain that does not answer is said so, and is never a pass', async () => {
    const rpc = ['--rpc', 'http://user:secret@127.0.0.1:9/key', '--registry', someAccount]
    const asked = ['good.json', '--signer', signer, ...rpc, '--owner', someAccount]
    const done = await verify(...asked)
    expect(done.code).toBe(0)
    expect(done.stdout).toMatch(/^\? anchor +The chain did not answer/m)
    expect(done.stdout + done.stderr).not.toContain('secret')
    expect((await verify(...asked, '--require-chain')).code).toBe(3)
  })

  test('--page writes the page once, and again only by force', async () => {
    const written = await home.cli('verify', '--page', 'page.html')
    expect([written.code, written.stdout]).toEqual([0, ''])
    const page = await Bun.file(join(home.folder, 'page.html')).text()
    expect(page).toStartWith('<!doctype html>')
    writeFileSync(join(home.folder, 'page.html'), 'mine')
    expect((await home.cli('verify', '--page', 'page.html')).code).toBe(2)
    expect(await Bun.file(join(home.folder, 'page.html')).text()).toBe('mine')
    expect((await home.cli('verify', '--page', 'page.html', '--force')).code).toBe(0)
    expect(await Bun.file(join(home.folder, 'page.html')).text()).toBe(page)
    expect((await home.cli('verify', 'good.json', '--page', 'other.html')).code).toBe(2)
    expect((await home.cli('verify', '--page', 'no/such/folder.html')).code).toBe(2)
    expect((await home.cli('verify')).code).toBe(2)
  })
})
