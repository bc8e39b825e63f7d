import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Home,
  makeHome,
  makeKey,
  must,
  noBinary,
  type Server,
  someAccount,
} from '../support/binary.ts'

const unknown = 'rcpt_00000000000000000000000000'

describe.skipIf(noBinary)('receipts on the command line, beside a running server', () => {
  let home: Home
  let server: Server
  let secret: string
  beforeAll(async () => {
    home = await makeHome()
    server = await home.start()
    secret = (await makeKey(home)).secret
  })
  afterAll(() => home?.remove())

  const bodyOf = (content: string) => ({
    model: 'counterfoil/echo-1',
    messages: [{ role: 'user', content }],
  })
  const ask = async (content: string): Promise<string> => {
    const init = { key: secret, json: bodyOf(content) }
    return (await (await server.call('/v1/chat/completions', init)).json()).receipt.id
  }
  const cli = async (...args: string[]) =>
    JSON.parse(await must(home, 'receipt', ...args, '--json'))
  const own = async (id: string) =>
    (await server.call(`/v1/receipts/${id}`, { key: secret })).json()

  test('show prints the file that verifies, share and unshare count at once', async () => {
    const id = await ask('shown by hand')
    await own(id)
    const file = await cli('show', id)
    expect(file).toMatchObject({ digest: (await own(id)).digest, visibility: 'private' })
    const path = join(home.folder, 'in.json')
    writeFileSync(path, JSON.stringify(bodyOf('shown by hand')))
    const share = await cli('share', id, '--sections', 'run', '--input', path)
    expect(share).toMatchObject({ visibility: 'unlisted', sections: ['run', 'content'] })
    const seen = await server.get(`/v1/receipts/${id}`)
    expect(seen.disclosures.input.value).toEqual(bodyOf('shown by hand'))
    expect(await cli('unshare', id)).toMatchObject({ visibility: 'private', url: null })
    expect((await server.call(`/v1/receipts/${id}`)).status).toBe(404)
  })

  test('the executable draws the picture of a shared receipt by itself', async () => {
    const id = await ask('shown as a picture')
    await cli('share', id, '--visibility', 'public')
    const answer = await server.call(`/receipts/${id}/picture.png`)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/png'])
    const png = Buffer.from(await answer.arrayBuffer())
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([1200, 630])
  }, 60_000)

  test('retention keeps texts within two seconds, erase takes them', async () => {
    await must(home, 'retention', someAccount, '24h')
    await Bun.sleep(2000)
    const id = await ask('kept by hand')
    expect((await own(id)).disclosures.input.value).toEqual(bodyOf('kept by hand'))
    expect(await cli('erase', id)).toMatchObject({ object: 'erasure', receipt_id: id })
    const after = await own(id)
    expect([after.disclosures, after.receipt.id]).toEqual([undefined, id])
    expect((await server.call(`/v1/receipts/${id}/proof`)).status).toBe(200)
    const off = await must(home, 'retention', someAccount, 'none', '--json')
    expect(JSON.parse(off)).toEqual({ account: someAccount, retention: 'none' })
  })

  test('what is not there is exit 1, a wrong word is exit 2', async () => {
    const id = await ask('x')
    const codes = await Promise.all([
      home.cli('receipt', 'show', unknown),
      home.cli('receipt', 'share', id, '--reveal', 'input'),
      home.cli('receipt', 'share', id, '--sections', 'everything'),
      home.cli('receipt', 'share', id, '--visibility', 'private-ish'),
      home.cli('receipt', 'share', id, '--input', 'not-there.json'),
      home.cli('retention', someAccount, 'forever'),
    ])
    expect(codes.map(({ code }) => code)).toEqual([1, 1, 2, 2, 2, 2])
  })
})
