import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sha256Hex } from '../../src/kernel/hash.ts'
import {
  grant,
  type Home,
  makeHome,
  makeKey,
  must,
  noBinary,
  type Server,
} from '../support/binary.ts'
import { promise } from '../support/promise.ts'

/** A text that a run gets and gives back: neither may be kept. */
const marker = 'xyzzy-plugh-4663'

promise`A2 C: Only the SHA-256 of a secret is stored; the secret is shown once and stands nowhere
  else.`
promise`A18 C: A key is looked up by its hash as a parameter, and is in no error, log or label.`
promise`K18`
test.skipIf(noBinary)(
  'the secret of a key is nowhere but in the hands of who made it; its SHA-256 is stored',
  async () => {
    await using home = await makeHome()
    const { id, secret } = await makeKey(home)
    const child = await makeKey(home, {}, '--parent', id)
    await grant(home, '1.00')
    const server = await home.start({ args: ['--log-level', 'debug'] })
    const said = await sayEverything(server, secret, child.id)
    said.push(await must(home, 'key', 'list', '--json'), await must(home, 'config'))

    const whileItRuns = filesOf(home)
    expect(whileItRuns.map(([name]) => name)).toContain('counterfoil.db-wal')
    await server.stop('SIGKILL')
    const afterACrash = filesOf(home)
    await (await home.start({ args: ['--log-level', 'debug'] })).stop()
    const afterAStop = filesOf(home)

    const answers = said.map((text, i): File => [`answer ${i}`, Buffer.from(text)])
    for (const files of [whileItRuns, afterACrash, afterAStop, answers]) {
      expect(namesWith(files, spellings(secret))).toEqual([])
      expect(namesWith(files, spellings(child.secret))).toEqual([])
    }
    for (const files of [whileItRuns, afterACrash, afterAStop]) {
      expect(namesWith(files, [Buffer.from(marker)])).toEqual([])
      const hash = sha256Hex(secret)
      const stored = namesWith(files, [Buffer.from(hash), Buffer.from(hash, 'hex')])
      expect(stored.some((name) => name.startsWith('counterfoil.db'))).toBe(true)
    }
    expect(namesWith(afterAStop, [Buffer.from('"level":"info"')])).toEqual(['stderr'])
  },
  30_000,
)

/** Uses a key in every way, also in places where no key belongs, and returns all answers. */
async function sayEverything(server: Server, key: string, childId: string): Promise<string[]> {
  const chat = { model: 'counterfoil/echo-1', messages: [{ role: 'user', content: marker }] }
  const answers = [
    await server.call('/v1/keys/self', { key }),
    await server.call('/v1/balance', { key }),
    await server.call('/v1/chat/completions', { key, json: { ...chat, stream: true } }),
    await server.call('/v1/runs', { key, json: { model: chat.model, input: marker } }),
    await server.call('/v1/embeddings', {
      key,
      json: { model: 'counterfoil/embed-1', input: marker },
    }),
    await server.call('/v1/runs', { key }),
    await server.call('/v1/receipts', { key }),
    await server.call('/v1/status'),
    await server.call('/v1/signer'),
    await server.call('/v1/models', { key }),
    await server.call(`/v1/keys/${childId}`, { key }),
    // Where it does not belong.
    await server.call(`/v1/runs/${key}`, { key }),
    await server.call(`/v1/receipts/${key}`, { key }),
    await server.call(`/v1/${key}?api_key=${key}`),
    await server.call('/v1/runs', { key, json: { model: key, input: marker } }),
    await server.call('/v1/runs', { key, json: { model: chat.model, input: marker, [key]: 1 } }),
    await server.call(`/v1/runs?limit=${key}&after=${key}`, { key }),
    await server.call('/v1/receipts/verify', { json: { receipt: key } }),
    await server.call('/v1/keys/self', { headers: { authorization: `Basic ${key}` } }),
    await server.call('/v1/keys/self', { headers: { cookie: `key=${key}`, 'x-api-key': key } }),
    await server.call('/v1/runs', { method: 'POST', key, body: `{"key":"${key}` }),
  ]
  const texts = await Promise.all(answers.map((answer) => answer.text()))
  const headers = answers.map((answer) => JSON.stringify([...answer.headers]))
  // A misspelt member is named in `param`, to anyone who sent it.
  return [...texts.filter((text) => !text.includes(`"param":"${key}"`)), ...headers]
}

/** The ways in which a secret could lie somewhere: as it is, without its prefix, encoded. */
function spellings(secret: string): Buffer[] {
  const random = secret.slice('sk-service-'.length)
  const forms = [secret, random, random.slice(0, 43)].flatMap((text) => {
    const bytes = Buffer.from(text)
    // Base64 inside a longer text starts at any of three places; its middle is the same then.
    const shifted = [0, 1, 2].map((n) => {
      const padded = Buffer.concat([Buffer.alloc(n), bytes]).toString('base64')
      return padded.slice(4, -4)
    })
    return [text, bytes.toString('hex'), bytes.toString('hex').toUpperCase(), ...shifted]
  })
  return forms.map((form) => Buffer.from(form))
}

type File = [name: string, bytes: Buffer]

/** Everything below the data folder, and what the servers printed. */
function filesOf({ data, printed }: Home): File[] {
  const names = readdirSync(data, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  const files = names.map((path): File => [path.slice(data.length + 1), readFileSync(path)])
  return [
    ...files,
    ['stdout', readFileSync(printed.stdout)],
    ['stderr', readFileSync(printed.stderr)],
  ]
}

const namesWith = (files: File[], needles: Buffer[]): string[] =>
  files
    .filter(([, bytes]) => needles.some((needle) => bytes.includes(needle)))
    .map(([name]) => name)
