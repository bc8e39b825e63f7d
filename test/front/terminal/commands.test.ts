import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { commands, usageOf } from '../../../src/front/terminal/language.ts'
import { arrive } from '../../proof/passports/office.ts'
import { promise } from '../../support/promise.ts'
import { unknownReceipt } from '../../support/sharing.ts'
import { type World, world } from '../../support/world.ts'
import {
  believed,
  type Fault,
  path,
  privateReceipt,
  type Result,
  refusal,
  run,
  send,
} from './support.ts'

describe('POST /v1/terminal/run, look-ups', () => {
  let w: World
  let receiptId: string
  let secretId: string
  beforeAll(async () => {
    w = await world({ toml: believed })
    receiptId = (await run(w, 'ask hello there')).receipt?.id ?? ''
    secretId = await privateReceipt(w)
  })
  afterAll(() => w?.stop())

  const bodyOf = async (route: string) => (await w.call(route)).json()

  test('help lists every command there is, each with how it is written', async () => {
    const { lines } = await run(w, 'help')
    expect(lines).toHaveLength(commands.length)
    for (const [i, usage] of commands.entries()) expect(lines[i]).toStartWith(usageOf(usage))
  })

  const same: [command: string, route: string][] = [
    ['models', '/v1/models'],
    ['anchors', '/v1/anchors'],
    ['signer', '/v1/signer'],
    ['recent', '/v1/explorer/recent'],
  ]
  test.each(same)('%s answers what %s does', async (command, route) => {
    const result = await run(w, command)
    expect(result).toMatchObject({ object: 'terminal.result', command })
    expect(result.lines.length).toBeGreaterThan(0)
    expect(result.data).toEqual(await bodyOf(route))
  })

  test('status answers what /v1/status does, but for the time that passed', async () => {
    const { data, lines } = await run(w, 'status')
    expect({ ...data, uptime_s: 0 }).toEqual({ ...(await bodyOf('/v1/status')), uptime_s: 0 })
    expect(lines[0]).toMatch(/^status +ok$/)
  })

  test('price says what a model costs, and names the nearest of one that is not there', async () => {
    const { data, lines } = await run(w, 'price counterfoil/echo-1')
    expect(data).toMatchObject({ id: 'counterfoil/echo-1', prices: { input_pusd: 0 } })
    expect(lines.join('\n')).toContain('$0.00 per 1M tokens')
    const { status, error } = await refusal(w, { command: 'price counterfoil/echo1' })
    expect([status, error.type]).toEqual([404, 'model_not_found'])
    expect(error.message).toContain('counterfoil/echo-1')
  })

  test('receipt shows what its owner shares, verify judges that, proof leads to the log', async () => {
    const shown = await run(w, `receipt ${receiptId}`)
    expect(shown.data).toEqual(await bodyOf(`/v1/receipts/${receiptId}`))
    expect(shown.lines.join('\n')).toContain('hidden     subject')
    const verdict = await run(w, `verify ${receiptId}`)
    expect(verdict.data).toMatchObject({ valid: true, source: 'stored', hidden: ['subject'] })
    expect(verdict.lines[0]).toBe('Signed and logged')
    const proof = await run(w, `proof ${receiptId}`)
    expect(proof.data).toEqual(await bodyOf(`/v1/receipts/${receiptId}/proof`))
  })

  test.each(['receipt', 'verify'])(
    '%s of a private receipt is as if there were none',
    async (name) => {
      const hidden = await refusal(w, { command: `${name} ${secretId}` })
      const absent = await refusal(w, { command: `${name} ${unknownReceipt}` })
      expect(hidden.status).toBe(404)
      const tell = ({ error, ...rest }: typeof hidden) => ({ ...rest, error: error.message })
      expect(tell(hidden)).toEqual(tell(absent))
      expect(hidden.error.type).toBe('receipt_not_found')
    },
  )

  test('the proof of a private receipt says its place, as its own route does', async () => {
    const { data } = await run(w, `proof ${secretId}`)
    expect(data).toEqual(await bodyOf(`/v1/receipts/${secretId}/proof`))
  })

  promise`I8`
  test('recent names no private receipt, only its place, its minute, its model and its end', async () => {
    const { lines } = await run(w, 'recent')
    expect(lines[0]).toMatch(
      /^ +2 {2}\d{4}-\d\d-\d\d \d\d:\d\d {2}counterfoil\/echo-1 {2}complete {2}private$/,
    )
    expect(lines.join('\n')).not.toContain('rcpt_')
  })

  test('passport says what everybody sees of one', async () => {
    const person = await arrive(w)
    await person.publish('paper-reader', { bio: 'Reads papers.' })
    const { data, lines } = await run(w, 'passport paper-reader')
    expect(data).toEqual(await bodyOf('/v1/passports/paper-reader'))
    expect(lines[0]).toMatch(/^passport +paper-reader$/)
    expect(lines.join('\n')).toContain('Reads papers.')
  })

  test('passport of no one: 404', async () => {
    expect((await refusal(w, { command: 'passport nobody-here' })).status).toBe(404)
  })

  test('names are read in capitals too, with spaces around', async () => {
    expect((await run(w, '  HELP  ')).command).toBe('help')
    expect((await run(w, ' Price   counterfoil/echo-1 ')).command).toBe('price')
  })

  const slips: [word: string, meant: string][] = [
    ['hlep', 'help'],
    ['stats', 'status'],
    ['recipt', 'receipt'],
    ['verfy x', 'verify'],
    ['/help', 'help'],
  ]
  test.each(slips)('%s is refused with the nearest command: %s', async (command, meant) => {
    const { status, error } = await refusal(w, { command })
    expect([status, error.type, error.param]).toEqual([400, 'invalid_request', 'command'])
    expect(error.metadata).toEqual({ nearest: meant })
    expect(error.message).toContain(`"${meant}"`)
  })

  const questions = ['hello', 'price of tea', 'status now', 'price a b', ' What is signed? ']
  test.each(questions)('"%s" is not a command and is asked as a question', async (command) => {
    const { command: name, lines, allowance } = await run(w, command)
    expect([name, lines[0]]).toEqual(['ask', command.trim()])
    expect(allowance.remaining).toBeLessThan(10)
  })

  const wrong: [what: string, body: unknown, param: string | null][] = [
    ['nothing', {}, 'command'],
    ['both', { command: 'help', input: 'x' }, 'command'],
    ['an empty command', { command: ' ' }, 'command'],
    ['a word too few', { command: 'price' }, 'command'],
    ['no text to ask', { command: 'ask' }, 'command'],
    ['an empty question', { input: ' ' }, 'input'],
    ['a stream of a look-up', { command: 'help', stream: true }, 'stream'],
    ['a model of a look-up', { command: 'help', model: 'a' }, 'model'],
    ['an unknown field', { command: 'help', shell: true }, 'shell'],
    ['a number', { command: 7 }, 'command'],
    ['no object', [], null],
  ]
  test.each(wrong)('%s: 400', async (_, body, param) => {
    const { status, error } = await refusal(w, body)
    expect([status, error.type, error.param]).toEqual([400, 'invalid_request', param])
  })

  test('an Authorization header is not looked at, good or bad', async () => {
    const { secret } = await w.key()
    for (const key of [secret, 'nonsense', `${secret.slice(0, -1)}x`]) {
      const answer = await w.call(path, { key, json: { command: 'help' } })
      expect(answer.status).toBe(200)
    }
    const own = await w.call(path, { key: secret, json: { command: `receipt ${secretId}` } })
    expect(own.status).toBe(404)
  })

  test('other methods are 405, other bodies 415 and 413, and no other origin may read it', async () => {
    expect((await w.call(path)).status).toBe(405)
    const form = new URLSearchParams({ command: 'help' })
    expect((await w.call(path, { method: 'POST', body: form })).status).toBe(415)
    expect((await send(w, { command: `ask ${'x'.repeat(20_000)}` })).status).toBe(413)
    const answer = await send(w, { command: 'help' })
    expect(answer.headers.get('access-control-allow-origin')).toBeNull()
    expect((await w.call(path, { method: 'OPTIONS' })).status).toBe(405)
  })
})

describe('it is not a shell', () => {
  let w: World
  beforeAll(async () => {
    w = await world({ toml: believed })
  })
  afterAll(() => w?.stop())

  const esc = String.fromCharCode(27)
  const payloads = [
    'status; rm -rf /',
    'status && cat /etc/passwd',
    'status | sh',
    '$(id)',
    '`id`',
    'help\nstatus',
    'help\r\nstatus',
    'help\0',
    'models > /tmp/out',
    `${esc}[2Jhelp`,
    '../../etc/passwd',
    'price $(id)',
    'receipt `id`',
    "verify ';drop table runs;--",
    'proof ../../signer.key',
    'passport ../../admin',
    '__proto__',
    'constructor',
    'toString',
    'price __proto__',
  ]
  test.each(payloads)('%j is refused or asked as plain text, and is never run', async (command) => {
    const from = `10.9.0.${payloads.indexOf(command)}`
    const answer = await send(w, { command }, from)
    const { error, ...asked }: { error?: Fault } & Partial<Result> = await answer.json()
    if (error) expect([400, 404]).toContain(answer.status)
    else expect([asked.command, asked.receipt?.cost_nusd]).toEqual(['ask', 0])
    const said = error ? error.message : (asked.lines ?? []).join('')
    expect(said).not.toContain(esc)
    expect(said).not.toContain('\0')
  })

  const said: [what: string, input: string, line: string][] = [
    ['a shell’s signs', '; rm -rf / $(id) `id`', '; rm -rf / $(id) `id`'],
    [
      'escape sequences',
      `${esc}[31mred${esc}]0;title\u0007`,
      '\\u{1b}[31mred\\u{1b}]0;title\\u{7}',
    ],
    ['a zero byte', 'a\0b', 'a\\u{0}b'],
    ['marks that turn text around', 'a\u202eb\u2066c\u200f', 'a\\u{202e}b\\u{2066}c\\u{200f}'],
    ['separators of lines', 'a\u2028b\u0085c', 'a\\u{2028}b\\u{85}c'],
  ]
  test.each(said)('%s come back as plain text', async (what, input, line) => {
    const from = `203.0.113.${said.findIndex(([one]) => one === what)}`
    const result: Result = await (await send(w, { input }, from)).json()
    expect(result.lines[0]).toBe(line)
  })

  test('an answer of several lines is several lines', async () => {
    const { lines } = await (await send(w, { input: 'one\ntwo\r\nthree' }, '198.51.100.1')).json()
    expect(lines.slice(0, 3)).toEqual(['one', 'two', 'three'])
  })
})
