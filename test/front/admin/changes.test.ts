import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { Browser } from '../../access/accounts/wallet.ts'
import type { World } from '../../support/world.ts'
import { adminWorld, html, noted, post } from './admin.ts'
import { providerKey, providerPlace } from './provider-place.ts'

setDefaultTimeout(60_000)

const pages = '/dashboard/admin/models'
let w: World
let own: Browser
let theirs: Browser
let place: ReturnType<typeof providerPlace>
beforeAll(async () => {
  ;({ w, own, theirs } = await adminWorld())
})
beforeEach(() => {
  place = providerPlace(w)
  const old = join(place.folder, 'data/keys/old')
  mkdirSync(dirname(old), { recursive: true })
  writeFileSync(old, `${providerKey}\n`, { mode: 0o600 })
  writeFileSync(
    place.path,
    `${place.begin}aliases = { "fast" = "acme/small" }

[[upstreams]]
id = "near" # ours
base_url = "${place.at}"
api_key_file = "${old}"

[[upstreams]]
id = "far"
base_url = "${place.at}"

[[models]]
id = "acme/small"
kind = "chat"
context_tokens = 1_000
max_output_tokens = 100
input_pusd = 1
output_pusd = 2
# first the near one
route = [
  "near:small", # cheap
  { to = "far:small", weight = 2 },
]

[[models]]
id = "acme/far"
kind = "chat"
context_tokens = 1_000
max_output_tokens = 100
input_pusd = 1
output_pusd = 2
route = ["far:large"]
`,
  )
})
afterEach(() => place.stop())
afterAll(() => w.stop())

const small = { id: 'acme/small', status: 'live', aliases: 'fast', weight_0: '', weight_1: '2' }
async function review(kind: string, fields: Record<string, string>, from = own) {
  const answer = await post(from, `${pages}/${kind}`, fields, html)
  const text = (await answer.text()).replaceAll('&quot;', '"').replaceAll('&#x27;', "'")
  const diff = /<pre id="diff">([^<]*)<\/pre>/.exec(text)?.[1] ?? ''
  const draft = /name="draft" value="([^"]*)"/.exec(text)?.[1] ?? ''
  return { status: answer.status, text, diff, draft }
}
const confirm = (kind: string, draft: string, from = own) =>
  post(from, `${pages}/${kind}/confirm`, { draft }, html)
const model = (id: string) => w.deps.catalogue.list().find((one) => one.id === id)

test('Weights, aliases and the state of a model are a shown diff, which is written with comments and order kept.', async () => {
  const before = place.text()
  const { diff, draft } = await review('model', {
    ...small,
    aliases: 'quick, fast',
    weight_0: '8',
    status: 'deprecated',
  })
  expect(diff.split('\n')).toEqual([
    '- aliases = { "fast" = "acme/small" }',
    '+ aliases = { "quick" = "acme/small", "fast" = "acme/small" }',
    '-   "near:small", # cheap',
    '+   { to = "near:small", weight = 8 }, # cheap',
    '+ status = "deprecated"',
  ])
  expect(place.text()).toBe(before)
  const answer = await confirm('model', draft)
  expect([answer.status, answer.headers.get('location')]).toEqual([303, pages])
  expect(readFileSync(`${place.path}.1`, 'utf8')).toBe(before)
  expect(model('acme/small')).toMatchObject({ status: 'deprecated' })
  expect(model('acme/small')?.route.map(({ weight }) => weight)).toEqual([8, 2])
  expect(w.deps.catalogue.aliases).toEqual({ quick: 'acme/small', fast: 'acme/small' })
  const [entry] = (await noted(w)).filter(({ action }) => action === 'model.change')
  expect(entry).toMatchObject({ subject: 'acme/small', detail: { status: 'deprecated' } })
})

test('A disabled upstream leaves all routes, a model that only it serves is disabled, and both come back.', async () => {
  const before = place.text()
  const { diff, draft } = await review('upstream', { id: 'far', status: 'disabled', key: '' })
  expect(diff).toBe('+ status = "disabled"')
  await confirm('upstream', draft)
  expect(model('acme/far')?.status).toBe('disabled')
  expect(model('acme/small')?.route.map(({ upstream }) => upstream)).toEqual(['near'])
  await confirm(
    'upstream',
    (await review('upstream', { id: 'far', status: 'live', key: '' })).draft,
  )
  expect(place.text()).toBe(before)
  expect(model('acme/far')?.status).toBe('live')
})

test('A new key goes into a file of its own, and is in no page, file of the configuration or audit.', async () => {
  const secret = 'gsk_another-secret'
  const { text, diff, draft } = await review('upstream', {
    id: 'near',
    status: 'live',
    key: secret,
  })
  const file = join(place.folder, 'data/keys/near')
  expect(diff.split('\n').at(-1)).toBe(`+ api_key_file = "${file}"`)
  expect([text.includes(secret), existsSync(file)]).toEqual([false, false])
  expect((await confirm('upstream', draft)).status).toBe(303)
  expect([readFileSync(file, 'utf8'), statSync(file).mode & 0o777]).toEqual([`${secret}\n`, 0o600])
  expect(place.text()).not.toContain(secret)
  expect(JSON.stringify(await noted(w), (_, v) => (typeof v === 'bigint' ? 0 : v))).not.toContain(
    secret,
  )
  const page = await (await own.call(`${pages}/upstream?id=near`, { headers: html })).text()
  expect(page).not.toContain(secret)
})

test('A test lists the models of an upstream, or says that it rejects the key.', async () => {
  const ask = async (id: string) => (await post(own, `${pages}/upstream/test`, { id }, html)).text()
  expect(await ask('near')).toContain('llama-3.3-70b-versatile')
  expect(await ask('far')).toContain('far rejects the key')
  expect(await ask('nowhere')).toContain('No such upstream')
})

test('Of two operators at once the second is refused, and no change is lost.', async () => {
  const first = await review('model', { ...small, aliases: 'one' })
  const second = await review('upstream', { id: 'far', status: 'disabled', key: 'gsk_second' })
  expect((await confirm('model', first.draft)).status).toBe(303)
  const written = place.text()
  expect((await confirm('upstream', second.draft)).status).toBe(409)
  expect([place.text(), existsSync(join(place.folder, 'data/keys/far'))]).toEqual([written, false])
  appendFileSync(place.path, '# by hand\n')
  expect((await confirm('model', first.draft)).status).toBe(409)
  expect(place.text()).toBe(`${written}# by hand\n`)
})

test.each([
  ['model', { ...small, status: 'gone' }, 'Choose a state'],
  ['model', { ...small, weight_0: '1.5' }, 'Enter a whole number'],
  ['model', { ...small, weight_0: '99999999' }, 'Enter a whole number'],
  ['model', { ...small, aliases: 'a"b' }, 'without spaces and quotes'],
  ['model', { ...small, aliases: 'acme/far' }, 'would be invalid'],
  ['model', small, 'changes nothing'],
  ['upstream', { id: 'near', status: 'live', key: 'two words' }, 'one line without spaces'],
] as const)('A wrong wish for a %s, %j, is refused: %s.', async (kind, fields, words) => {
  const before = place.text()
  const { status, text, draft } = await review(kind, fields)
  expect([status >= 400, draft, place.text()]).toEqual([true, '', before])
  expect(text).toContain(words)
})

test('Changes are for operators, from this site, and each for the one who looked at it.', async () => {
  expect((await review('model', { ...small, aliases: 'x' }, theirs)).status).toBe(404)
  const { draft } = await review('model', { ...small, aliases: 'x' })
  expect((await confirm('model', draft, theirs)).status).toBe(404)
  const evil = { ...html, origin: 'https://evil.example' }
  expect((await post(own, `${pages}/model/confirm`, { draft }, evil)).status).toBe(403)
  expect((await confirm('model', `${draft.slice(0, -8)}AAAAAAAA`)).status).toBe(409)
  w.advance(16 * 60_000)
  expect((await confirm('model', draft)).status).toBe(409)
  expect(place.text()).not.toContain('"x"')
})

test('A model without an entry in the file says so, and a broken file is named before a change.', async () => {
  const page = await own.call(`${pages}/model?id=counterfoil/echo-1`, { headers: html })
  expect(await page.text()).toContain('The configuration file has no model of this name.')
  writeFileSync(place.path, 'not toml [')
  expect((await own.call(`${pages}/model?id=acme/small`, { headers: html })).status).toBe(409)
})

test('Prices are changed as dollars a million tokens, in the form that the file has, beside cost and margin.', async () => {
  writeFileSync(
    place.path,

    place
      .text()
      .replace(
        'input_pusd = 1\noutput_pusd = 2\n# first the near one',
        'input = "$0.15/M" # read\noutput_pusd = 600_000\n# first the near one',
      )
      .replace(
        '{ to = "far:small", weight = 2 }',
        '{ to = "far:small", weight = 2, cost = { input = "$0.10/M", output = "$0.40/M" } }',
      ),
  )
  const page = await (
    await own.call(`${pages}/model?id=acme/small`, { headers: { accept: 'text/html' } })
  ).text()
  expect(page).toMatch(/name="input_pusd"[^>]*value="0.15"/)
  expect(page).toContain('It costs $0.40 at most.')
  const { text, diff, draft } = await review('model', {
    ...small,
    input_pusd: '$0.25 / M',
    output_pusd: '1.00',
  })
  expect(diff.split('\n')).toEqual([
    '- input = "$0.15/M" # read',
    '- output_pusd = 600_000',
    '+ input = "$0.25/M" # read',
    '+ output_pusd = 1_000_000',
  ])
  expect(text).toContain('60.0 %')
  await confirm('model', draft)
  expect(model('acme/small')?.prices).toMatchObject({ inputPusd: 250_000n, outputPusd: 1_000_000n })
})

test('A price below the cost of a step is refused at its box, and sold when the box is ticked.', async () => {
  writeFileSync(
    place.path,

    place
      .text()
      .replace(
        '{ to = "far:small", weight = 2 }',
        '{ to = "far:small", weight = 2, cost = { input_pusd = 1, output_pusd = 2 } }',
      ),
  )
  const before = place.text()
  const low = { ...small, input_pusd: '0', output_pusd: '0.000002' }
  const refused = await review('model', low)
  expect([refused.status, refused.draft]).toEqual([400, ''])
  expect(refused.text).toContain('Below cost: acme/small sells input')
  // The near step has no cost, which is asked for in a box of its own.
  const guessed = await review('model', { ...low, may_lose: 'true' })
  expect([guessed.status, guessed.draft]).toEqual([400, ''])
  expect(guessed.text).toContain('The price of input falls, and a step has no cost')
  const { text, draft } = await review('model', { ...low, may_lose: 'true', cost_unknown: 'true' })
  expect(text).toContain('Sold below cost.')
  expect(place.text()).toBe(before)
  await confirm('model', draft)
  expect(model('acme/small')?.prices.inputPusd).toBe(0n)
})

test.each([
  ['input_pusd', '', 'This price is needed'],
  ['input_pusd', '-1', 'Enter dollars a million tokens'],
  ['output_pusd', '0.1234567', 'Enter dollars a million tokens'],
  ['output_pusd', '1e9', 'Enter dollars a million tokens'],
])(
  'A price that cannot be read is refused at its field: %s = "%s".',
  async (field, value, words) => {
    const { status, text } = await review('model', { ...small, [field]: value })
    expect([status, text.includes(words)]).toEqual([400, true])
  },
)

test('A price that is cleared falls back to the rate that it is a class of.', async () => {
  writeFileSync(
    place.path,
    place.text().replace('input_pusd = 1\n', 'input_pusd = 1\ncache_read = "$0.000001/M"\n'),
  )
  const { diff, draft } = await review('model', { ...small, cache_read_pusd: '' })
  expect(diff).toBe('- cache_read = "$0.000001/M"')
  await confirm('model', draft)
  expect(model('acme/small')?.prices.card).toBeUndefined()
})

test('A price that falls where no cost is known is refused at its box, and sold when that is ticked.', async () => {
  const dear = { ...small, output_pusd: '0.000003' }
  expect((await review('model', dear)).status).toBe(200)
  const low = { ...small, output_pusd: '0.000001' }
  const refused = await review('model', low)
  expect([refused.status, refused.draft]).toEqual([400, ''])
  expect(refused.text).toContain('The price of output falls, and a step has no cost')
  // A class that gets a rate below the one that it fell back to has become cheaper too.
  writeFileSync(
    place.path,
    place.text().replace('input_pusd = 1\n', 'input_pusd = 1\ncache_read_pusd = 1\n'),
  )
  expect((await review('model', { ...small, cache_read_pusd: '0' })).status).toBe(400)
  const { draft } = await review('model', { ...low, cost_unknown: 'true' })
  await confirm('model', draft)
  expect(model('acme/small')?.prices.outputPusd).toBe(1n)
})
