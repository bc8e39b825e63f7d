import { afterEach, beforeEach, expect, test } from 'bun:test'
import { expectSettled, lastEnded, modelToml, neverOpens, upstreamToml } from '../support/runs.ts'
import { type StubUpstream, startStubUpstream } from '../support/stub-upstream.ts'
import { usd, type World, world } from '../support/world.ts'

let claude: StubUpstream
let open: StubUpstream
let w: World
let secret: string

const tier = '[[models.tiers]]\nname = "priority"\ninput = "$10/M"\noutput = "$20/M"\n'
const hours = `[[models.hours]]
from = "16:30"
to = "00:30"
input = "$0.25/M"
output = "$5/M"
${tier.replace('tiers', 'hours.tiers')}`

const [first, second] = ['"claude:normal"', '"open:normal"']
const dear = '{ to = "claude:normal", input = "$500/M", output = "$500/M" }'
const dearTier = dear.replace(' }', `, tiers = [{ name = "priority", input = "$500/M" }] }`)

beforeEach(async () => {
  claude = await startStubUpstream()
  open = await startStubUpstream()
  const toml = [
    upstreamToml('claude', claude.url, `kind = "anthropic"\n${neverOpens}`),
    upstreamToml('open', open.url),
    modelToml('plain/m', second, tier),
    modelToml('hours/m', `${first}, ${second}`, tier + hours),
    modelToml('hours/back', `${second}, ${first}`, tier + hours),
    modelToml('dear/m', `${dear}, ${second}`),
    modelToml('dear/hours', `${dearTier}, ${second}`, tier + hours),
  ].join('')
  w = await world({ toml, now: Date.parse('2026-06-01T12:00:00Z') })
  secret = (await w.key({ balance: 100n * usd })).secret
})
afterEach(async () => {
  await expectSettled(w)
  await w.stop()
  await claude.stop()
  await open.stop()
})

async function ask(model: string, more: object) {
  w.advance(1000)
  const json = { model, messages: [{ role: 'user', content: 'Hi.' }], max_tokens: 50, ...more }
  const answer = await w.call('/v1/chat/completions', { key: secret, json })
  await answer.text()
  const { route, hold, lines } = await lastEnded(w)
  return { status: answer.status, route, hold, lines }
}

/** Does the same by the usual prices and, over the border of an hour, by the others. */
async function atBothHours(what: () => Promise<void>) {
  await what()
  w.advance(5 * 3_600_000)
  await what()
}

test('Steps that cannot be asked for a request are not asked at any hour.', async () => {
  await atBothHours(async () => {
    const two = await ask('hours/m', { n: 2 })
    expect([two.status, two.route]).toEqual([200, 'open:normal'])
    const fast = await ask('hours/m', { service_tier: 'priority' })
    expect([fast.status, fast.route]).toEqual([200, 'open:normal'])
  })
  expect(claude.calls).toEqual([])
})

test('A tool that one protocol has goes to its server at any hour.', async () => {
  const json = {
    model: 'hours/back',
    max_tokens: 50,
    messages: [{ role: 'user', content: 'Hi.' }],
    tools: [{ type: 'web_fetch_20250910', name: 'web_fetch', max_uses: 1, max_content_tokens: 9 }],
    tool_choice: { type: 'tool', name: 'web_fetch' },
  }
  await atBothHours(async () => {
    const headers = { 'anthropic-version': '2023-06-01' }
    const answer = await w.call('/v1/messages', { key: secret, json, headers })
    await answer.text()
    expect([answer.status, (await lastEnded(w)).route]).toEqual([200, 'claude:normal'])
  })
})

test('The hold leaves out the prices of steps that cannot be asked, at any hour.', async () => {
  const { hold } = await ask('plain/m', { n: 2 })
  expect((await ask('dear/m', { n: 2 })).hold).toBe(hold)
  expect((await ask('dear/m', {})).hold).toBeGreaterThan(100n * hold)
  expect((await ask('dear/hours', { n: 2 })).hold).toBe(hold)
  w.advance(5 * 3_600_000)
  const then = await ask('dear/hours', { n: 2 })
  expect(then.hold).toBe((await ask('hours/m', { n: 2 })).hold)
  expect(then.lines.map(({ price }) => price)).toEqual(['250000', '5000000'])
})
