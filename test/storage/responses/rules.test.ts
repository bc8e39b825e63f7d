import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { JsonObject } from '../../../src/kernel/json-object.ts'
import { signerFromHex } from '../../../src/proof/signer/signer.ts'
import { setRetention } from '../../../src/storage/texts/retain.ts'
import { promise } from '../../support/promise.ts'
import { allRuns, everythingWritten, lastRun } from '../../support/runs.ts'
import { said } from '../../support/scripted-upstream.ts'
import { engines, testAccount } from '../../support/world.ts'
import { eachWire, type Kept, refusalOf, serveKept } from './kept.ts'

setDefaultTimeout(60_000)

const hourMs = 3_600_000
const stranger = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'

promise`S6 C: A kept response is sealed, found by its account alone, billed as if it had been
  sent, and gone when it is forbidden, erased or a day old.`
describe.each(engines)('a kept response on %s', (engine) => {
  let k: Kept
  beforeAll(async () => {
    k = await serveKept({ engine, now: 1_800_000_000_000 })
  })
  afterAll(() => k.stop())

  const first = async (more: object = {}, key = k.secret): Promise<JsonObject> => {
    const answer = await k.ask({ model: 'openai/agent', input: 'first', ...more }, key)
    expect(answer.status).toBe(200)
    return answer.json()
  }
  const itemOf = ({ output }: JsonObject): string => String((output as JsonObject[])[0]?.['id'])
  const goOn = (id: string, key = k.secret, model = 'openai/agent') =>
    k.ask({ model, input: 'next', previous_response_id: id }, key)
  const refer = (id: string, key = k.secret, model = 'openai/agent') => {
    const input = [
      { role: 'user', content: 'first' },
      { type: 'item_reference', id },
      { role: 'user', content: 'next' },
    ]
    return k.ask({ model, input }, key)
  }

  promise`S6`
  test('is the same 404 to another account as an unknown id, and nothing is held', async () => {
    const answer = await first()
    const other = await k.keyOf({ account: stranger })
    const before = (await allRuns(k.w)).length
    const [response, item] = [String(answer['id']), itemOf(answer)]
    const theirs = await refusalOf(await goOn(response, other))
    expect(theirs).toEqual({
      status: 404,
      type: 'not_found',
      param: 'previous_response_id',
      message: `Response "${response}" is not kept here: send the items of the conversation as "input".`,
    })
    const unknown = await refusalOf(await goOn('resp_unknown'))
    expect({ ...unknown, message: unknown.message.replace('resp_unknown', response) }).toEqual(
      theirs,
    )
    const itsItem = await refusalOf(await refer(item, other))
    expect(itsItem).toMatchObject({ status: 404, type: 'not_found', param: 'input[1].id' })
    const noItem = await refusalOf(await refer('msg_unknown'))
    expect({ ...noItem, message: noItem.message.replace('msg_unknown', item) }).toEqual(itsItem)
    expect((await allRuns(k.w)).length).toBe(before)
  })

  test('is found by its key and those above it, and by no key beside', async () => {
    const parent = await k.w.key({})
    const child = await k.w.key({ parentId: parent.key.id })
    const beside = await k.keyOf()
    const answer = await first({}, child.secret)
    expect((await goOn(String(answer['id']), child.secret)).status).toBe(200)
    expect((await goOn(String(answer['id']), parent.secret)).status).toBe(200)
    expect((await goOn(String(answer['id']), beside)).status).toBe(404)
    expect((await refer(itemOf(answer), beside)).status).toBe(404)
  })

  test('is gone a day after its last use, and deleted by the job', async () => {
    const answer = await first()
    const id = String(answer['id'])
    k.w.advance(23 * hourMs)
    expect((await goOn(id)).status).toBe(200)
    k.w.advance(23 * hourMs)
    expect((await refer(itemOf(answer))).status).toBe(200)
    k.w.advance(25 * hourMs)
    const late = await refusalOf(await goOn(id))
    expect(late).toMatchObject({ status: 404, param: 'previous_response_id' })
    expect(late.message).toContain(`"${id}" is not kept here: send`)
    expect((await refer(itemOf(answer))).status).toBe(404)
    await k.w.deps.keptItems.dropPast(k.w.deps.clock.now())
    expect(await k.kept()).toEqual([])
  })

  test('is nothing where the request says store: false, and the answer says so', async () => {
    const before = (await k.kept()).length
    const answer = await first({ store: false })
    expect(answer['store']).toBe(false)
    expect((await goOn(String(answer['id']))).status).toBe(404)
    expect((await k.kept()).length).toBe(before)
    const odd = await refusalOf(await k.ask({ model: 'openai/agent', input: 'x', store: 'no' }))
    expect(odd).toMatchObject({ status: 400, param: 'store' })
  })

  test.each(eachWire)('is told from the first event of a stream to the last (%s)', async (wire) => {
    for (const store of [true, false]) {
      const answer = await k.ask({ model: `${wire}/agent`, input: 'x', stream: true, store })
      const told = [...(await answer.text()).matchAll(/^data: (.*)$/gm)]
        .map(([, data = '']) => JSON.parse(data).response?.store)
        .filter((one) => one !== undefined)
      expect(new Set(told)).toEqual(new Set([store]))
      expect(told.length).toBeGreaterThan(1)
    }
  })

  test.each(eachWire)('goes whole to a server of kind %s, with ids and calls', async (wire) => {
    const model = `${wire}/agent`
    const tools = [{ type: 'function', name: 'weather', parameters: { type: 'object' } }]
    const answer = await first({ model, tools })
    const calls = answer['output'] as JsonObject[]
    expect(calls.map(({ type }) => type)).toEqual(['function_call', 'function_call'])
    const input = calls.flatMap(({ id, call_id }) => [
      { type: 'item_reference', id },
      { type: 'function_call_output', call_id, output: 'sunny' },
    ])
    const next = await k.ask({
      model,
      tools,
      input: [{ role: 'user', content: 'first' }, ...input],
    })
    const told = await next.json()
    expect([next.status, told.output[0].content[0].text]).toEqual([200, said.join('')])
    const third = await k.ask({ model, tools, input: 'so?', previous_response_id: told.id })
    expect(third.status).toBe(200)
    const read = k.read()
    for (const word of ['Rome', 'Bonn', 'sunny', 'so?', said.join('')]) expect(read).toContain(word)
    expect(read).not.toContain('item_reference')
  })

  test('the newest item of an id is the one that is meant', async () => {
    const model = 'responses/agent'
    // This server calls all its responses resp_far.
    for (const input of ['old words', 'new words']) await first({ model, input })
    expect((await goOn('resp_far', k.secret, model)).status).toBe(200)
    expect(k.read()).toContain('new words')
    expect(k.read()).not.toContain('old words')
  })

  test('a reference to reasoning that is not kept is left out by name', async () => {
    for (const wire of ['openai', 'responses']) {
      const input = [
        { type: 'item_reference', id: 'rs_unknown' },
        { role: 'user', content: 'x' },
      ]
      const answer = await k.ask({ model: `${wire}/agent`, input })
      expect(answer.status).toBe(200)
      expect(answer.headers.get('x-counterfoil-ignored')).toContain('reasoning items')
    }
  })

  test('the receipt commits to the request as received, not to what it named', async () => {
    await setRetention(k.w.deps, { account: testAccount, retention: '24h', actor: 'test' })
    const answer = await first()
    const id = String(answer['id'])
    expect((await goOn(id)).status).toBe(200)
    const { id: runId } = await lastRun(k.w)
    const texts = await k.w.deps.texts.find(runId)
    expect(texts?.input).toEqual({ model: 'openai/agent', input: 'next', previous_response_id: id })
  })

  test('a repeated Idempotency-Key gets the same answer, and keeps nothing twice', async () => {
    for (const stream of [false, true]) {
      const json = { model: 'openai/agent', input: `again ${stream}`, stream }
      const headers = { 'idempotency-key': `again ${stream}` }
      const one = await (await k.ask(json, k.secret, headers)).text()
      const count = (await k.kept()).length
      const two = await k.ask(json, k.secret, headers)
      expect(await two.text()).toBe(one)
      expect(two.headers.get('idempotent-replayed')).toBe('true')
      expect((await k.kept()).length).toBe(count)
      expect(one).toContain('"store":true')
    }
  })

  promise`S6`
  test('no word stands in the database in clear', async () => {
    const word = 'persimmon-7710'
    k.scripted.turnFor = () => ({ words: [word], calls: [] })
    await setRetention(k.w.deps, { account: testAccount, retention: 'none', actor: 'test' })
    const account = '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc'
    const key = await k.keyOf({ account })
    const answer = await first({ input: `${word} asked` }, key)
    expect((await goOn(String(answer['id']), key)).status).toBe(200)
    expect(k.read()).toContain(`${word} asked`)
    const written = await everythingWritten(k.w)
    expect(written).not.toContain(word)
    expect(written).not.toContain(Buffer.from(word).toString('base64').slice(0, 12))
    // Nor can the keys of another signer open it.
    const mine = k.w.deps.sealer
    const [row] = await k.kept()
    expect(row && mine.open(row.sealed, 'another place')).toBeUndefined()
  })

  test('goes with an erased receipt, and the conversation behind it with it', async () => {
    const scopes = ['runs:write', 'receipts:share'] as const
    const key = await k.keyOf({ account: stranger, scopes: [...scopes] })
    const one = await first({}, key)
    const two = await (await goOn(String(one['id']), key)).json()
    const { receipt } = one['counterfoil'] as { receipt: { id: string } }
    const erased = await k.w.call(`/v1/receipts/${receipt.id}/erase`, { method: 'POST', key })
    expect(erased.status).toBe(200)
    expect((await goOn(String(one['id']), key)).status).toBe(404)
    expect((await refer(itemOf(one), key)).status).toBe(404)
    expect((await refer(itemOf(two), key)).status).toBe(200)
    const broken = await refusalOf(await goOn(String(two['id']), key))
    expect(broken).toMatchObject({ status: 404, param: 'previous_response_id' })
  })

  test('is deleted and no longer kept for an account that asks to keep nothing', async () => {
    const account = '0x90f79bf6eb2c4f870365e785982e1f101e93b906'
    const key = await k.keyOf({ account })
    const answer = await first({}, key)
    const own = async () => (await k.kept()).filter((row) => row.accountId === account).length
    expect(await own()).toBeGreaterThan(0)
    await setRetention(k.w.deps, { account, retention: 'none', actor: 'test' })
    expect(await own()).toBe(0)
    const refused = await refusalOf(await goOn(String(answer['id']), key))
    expect(refused.message).toContain('because this account keeps nothing')
    expect(await first({}, key)).toMatchObject({ store: false })
    expect(await own()).toBe(0)
    await setRetention(k.w.deps, { account, retention: '24h', actor: 'test' })
    expect(await first({}, key)).toMatchObject({ store: true })
  })

  test('is nothing where the operator forbids it, which the refusal says', async () => {
    const { settings } = k.w.deps
    const key = await k.keyOf({ account: stranger })
    const answer = await first({}, key)
    expect(answer['store']).toBe(true)
    settings.keepResponsesHours = 0
    try {
      expect(await first({}, key)).toMatchObject({ store: false })
      for (const refused of [
        await goOn(String(answer['id']), key),
        await refer(itemOf(answer), key),
      ]) {
        expect(await refusalOf(refused)).toMatchObject({
          status: 404,
          message: expect.stringContaining('because this service keeps no responses'),
        })
      }
    } finally {
      settings.keepResponsesHours = 24
    }
  })
})

test('keys of another signer open nothing that is kept', async () => {
  const k = await serveKept()
  const answer = await (await k.ask({ model: 'openai/agent', input: 'first' })).json()
  const { makeSealer } = await import('../../../src/proof/signer/sealer.ts')
  k.w.deps.sealer = makeSealer(signerFromHex('11'.repeat(32)), k.w.deps.random)
  const next = { model: 'openai/agent', input: 'next', previous_response_id: answer.id }
  expect((await k.ask(next)).status).toBe(404)
  await k.stop()
})
