import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { usd, type World, world } from '../support/world.ts'

let w: World
let text: string
let secret: string
let folder: string
beforeAll(async () => {
  w = await world()
  secret = (await w.key({ balance: usd })).secret
  folder = mkdtempSync(join(tmpdir(), 'counterfoil-llms-'))
  text = await (await w.call('/llms.txt')).text()
})
afterAll(async () => {
  await w.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** Runs a command as an agent would, and reads the JSON that it prints. */
async function run(command: string, env: Record<string, string> = {}) {
  const child = Bun.spawn(['sh', '-c', command], {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', COUNTERFOIL_KEY: secret, ...env },
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

  test('its commands check the budget, run, and verify the receipt', async () => {
    const commands = [...text.matchAll(/```sh\n([\s\S]+?)\n```/g)].map(([, one = '']) => one)
    const [budget = '', chat = '', verify = ''] = commands
    expect(commands).toHaveLength(3)
    expect(await run(budget)).toMatchObject({ object: 'key', next_block: { type: 'key_expired' } })
    const { receipt, choices } = await run(chat)
    expect(choices[0].message.content).toBe('Every run leaves a receipt.')
    const verdict = await run(verify, { RECEIPT_URL: receipt.url })
    expect(verdict).toMatchObject({ valid: true, receipt_id: receipt.id, source: 'given' })
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
