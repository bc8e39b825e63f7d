import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { scopes } from '../../src/access/keys/key.ts'
import { areas } from '../../src/front/reference/areas.ts'
import { usd, type World, world } from '../support/world.ts'

let w: World
let text: string
let secret: string
let folder: string
beforeAll(async () => {
  w = await world()
  secret = (await w.key({ balance: usd, scopes: [...scopes] })).secret
  folder = mkdtempSync(join(tmpdir(), 'counterfoil-llms-'))
  text = await (await w.call('/llms.txt')).text()
  // The command as it is installed: a program in the PATH.
  const program = join(folder, 'counterfoil')
  const main = new URL('../../src/main.ts', import.meta.url).pathname
  await Bun.write(program, `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`)
  chmodSync(program, 0o755)
})
afterAll(async () => {
  await w.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** Runs a command as an agent would, and reads the JSON that it prints. */
async function run(command: string, env: Record<string, string> = {}) {
  const child = Bun.spawn(['sh', '-c', command], {
    cwd: folder,
    env: { PATH: `${folder}:${process.env['PATH'] ?? ''}`, COUNTERFOIL_KEY: secret, ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'ignore',
  })
  return JSON.parse(await new Response(child.stdout).text())
}

describe('GET /llms.txt, and nothing else', () => {
  test('is short, plain and of this server', async () => {
    const answer = await w.call('/llms.txt')
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(answer.headers.get('etag')).toBeString()
    expect(text).toStartWith(`# Counterfoil at ${w.origin}\n\n> `)
    expect(text.length).toBeLessThan(8000)
  })

  test('its commands check the budget, run, verify the receipt here and offline, and make a key', async () => {
    const commands = [...text.matchAll(/```sh\n([\s\S]+?)\n```/g)].map(([, one = '']) => one)
    const [budget = '', chat = '', verify = '', offline = '', mint = ''] = commands
    expect(commands).toHaveLength(5)
    expect(await run(budget)).toMatchObject({ object: 'key', next_block: { type: 'key_expired' } })
    const { receipt, choices } = await run(chat)
    expect(choices[0].message.content).toBe('Every run leaves a receipt.')
    const verdict = await run(verify, { RECEIPT_URL: receipt.url })
    expect(verdict).toMatchObject({ valid: true, receipt_id: receipt.id, source: 'given' })
    const { address } = await (await w.call('/v1/signer')).json()
    const signed = await run(offline, { COUNTERFOIL_SIGNER: address })
    expect(signed).toMatchObject({ valid: true, receipt_id: receipt.id })
    // Whom to trust is the reader's to say: another signer is not believed.
    const other = `0x${'1'.repeat(40)}`
    expect(await run(offline, { COUNTERFOIL_SIGNER: other })).toMatchObject({ valid: false })
    const made = await run(mint)
    expect(made).toMatchObject({ object: 'key', cap: { limit_nusd: 500_000_000, window: 'day' } })
    const self = await w.call('/v1/keys/self', { key: made.secret })
    expect(await self.json()).toMatchObject({ id: made.id })
  })

  test('names every area, as OpenAPI and as Markdown', async () => {
    for (const { id } of areas) {
      expect(text).toContain(id)
      for (const path of [`/openapi/${id}.json`, `/docs/${id}.md`]) {
        const { status, body } = await w.call(path)
        await body?.cancel()
        expect([path, status]).toEqual([path, 200])
      }
    }
  })

  test('everything that it names is there', async () => {
    const urls = [...text.matchAll(/\]\((http[^)]+)\)/g)].map(([, url = '']) => url)
    expect(urls.length).toBeGreaterThan(2)
    for (const url of urls) {
      const { status } = await fetch(url)
      expect([url, status]).toEqual([url, url.endsWith('/mcp') ? 405 : 200])
    }
  })
})
