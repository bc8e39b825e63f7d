import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { revokeKey } from '../../src/access/keys/revoke.ts'
import { stopForbidden } from '../../src/runs/stop-forbidden.ts'
import { chatBefore, inputBytesOf, nameOf, type Pair, pairs } from '../support/doors.ts'
import { fault, promise } from '../support/promise.ts'
import {
  afterFirst,
  expectSettled,
  inputPrice,
  lastRun,
  modelsToml,
  modelToml,
  neverOpens,
  receiptIdOf,
  until,
  upstreamToml,
} from '../support/runs.ts'
import { startStubUpstream } from '../support/stub-upstream.ts'
import { type Engine, engines, usd, type World, world } from '../support/world.ts'

const otherAccount = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'

/** Every engine behind one door, and every other door on SQLite. */
const cases: [engine: Engine, pair: Pair][] = [
  ...engines.map((engine): [Engine, Pair] => [engine, chatBefore]),
  ...pairs.filter((pair) => pair !== chatBefore).map((pair): [Engine, Pair] => ['sqlite', pair]),
]

for (const [engine, pair] of cases) {
  const { door, wire } = pair
  const asked = { text: 'hello', most: 900 }
  /** What a run is charged for reading whose client left: three bytes a token. */
  const read = (model: string, stream: boolean) =>
    Math.ceil(inputBytesOf(pair, { ...asked, model, stream }) / 3)

  describe(`runs that are stopped, on ${engine}, ${nameOf(pair)}`, () => {
    let stub: Awaited<ReturnType<typeof startStubUpstream>>
    let w: World
    let secret: string

    beforeAll(async () => {
      stub = await startStubUpstream()
      const short = (name: string, field: string) =>
        upstreamToml(name, stub.url, `kind = "${wire}"\n${field} = 80`) +
        ['stall', 'stall-1', 'slow']
          .map((m) => modelToml(`${name}/${m}`, `"${name}:${m}"`))
          .join('')
      const toml =
        modelsToml(
          stub.url,
          ['stall', 'stall-1', 'slow', 'normal'],
          `${neverOpens}\nkind = "${wire}"`,
        ) +
        short('first', 'timeout_first_byte_ms') +
        short('idle', 'timeout_idle_ms') +
        short('total', 'timeout_total_ms')
      w = await world({ engine, toml })
      secret = (await w.key({ balance: 10n * usd })).secret
    })
    afterAll(async () => {
      await expectSettled(w)
      await w.stop()
      await stub.stop()
    })

    const chat = (
      model: string,
      stream: boolean,
      init: { signal?: AbortSignal; key?: string } = {},
    ) => w.call(door.path, { key: secret, json: door.body({ ...asked, model, stream }), ...init })

    /** Starts a run, and waits until the upstream has it. */
    async function started(model: string, stream: boolean, key = secret) {
      const before = stub.counts.requests
      const leave = new AbortController()
      const answer = chat(model, stream, { signal: leave.signal, key })
      answer.catch(() => undefined)
      await until('the upstream to be asked', () => stub.counts.requests > before)
      return { leave: () => leave.abort(), answer }
    }

    const upstreamStopped = () =>
      until('the upstream to stop', () => stub.counts.active === 0, 1000)
    const settled = () =>
      until('the run to be settled', async () => {
        const run = await lastRun(w)
        return run.finishedAt === null ? undefined : run
      })

    describe('a client that goes away', () => {
      for (const stream of [false, true]) {
        test(`before the first byte, ${stream ? 'streamed' : 'plain'}: its input is charged`, async () => {
          const run = await started('stub/stall', stream)
          run.leave()
          await upstreamStopped()
          const ended = await settled()
          const units = ended.lines.map(({ quantity }) => quantity)
          expect([ended.status, ended.outcome]).toEqual(['cancelled', 'cancelled'])
          expect([units, ended.usageSource]).toEqual([[read('stub/stall', stream), 0], 'counted'])
          expect(await receiptIdOf(w, secret, ended.id)).toStartWith('rcpt_')
          await expectSettled(w)
        })
      }

      promise`D13 C: When a client goes, its upstream stops and it pays for what it was given.`
      test('in a stream: what was delivered is charged', async () => {
        const run = await started('stub/slow', true)
        await afterFirst(run.answer)
        run.leave()
        await upstreamStopped()
        const ended = await settled()
        expect([ended.status, ended.outcome]).toEqual(['cancelled', 'cancelled'])
        expect(ended.lines.find(({ meter }) => meter === 'output')?.quantity).toBeGreaterThan(0)
        expect(ended.cost).toBeGreaterThan(0n)
        await expectSettled(w)
      })

      promise`D13`
      fault`31`
      test('in a stream that fell silent: its upstream is stopped as well', async () => {
        const run = await started('stub/stall-1', true)
        await afterFirst(run.answer)
        run.leave()
        await upstreamStopped()
        const ended = await settled()
        // 'The', three bytes. Anthropic's protocol reports what was read with its first event.
        const input = wire === 'anthropic' ? 7 : read('stub/stall-1', true)
        expect(ended.lines.map(({ quantity }) => quantity)).toEqual([input, 1])
      })
    })

    describe('POST /v1/runs/:id/cancel', () => {
      test('stops the upstream, answers the settled run, and the stream says so', async () => {
        const run = await started('stub/slow', true)
        const { rest } = await afterFirst(run.answer)
        const { id } = await lastRun(w)
        const answer = await w.call(`/v1/runs/${id}/cancel`, { key: secret, method: 'POST' })
        expect(answer.status).toBe(200)
        const shown = await answer.json()
        expect(shown).toMatchObject({ id, status: 'cancelled', outcome: 'cancelled' })
        expect(shown.cost_nusd).toBeGreaterThan(0)
        await upstreamStopped()
        const { error, isWhole } = door.read(await rest())
        expect([error, isWhole]).toEqual(['conflict', false])
      })

      promise`D20`
      test('a plain run answers 409 that no SDK tries again, and costs its input', async () => {
        const run = await started('stub/stall', false)
        const { id } = await lastRun(w)
        await w.call(`/v1/runs/${id}/cancel`, { key: secret, method: 'POST' })
        const answer = await run.answer
        expect(answer.status).toBe(409)
        expect(answer.headers.get('x-should-retry')).toBe('false')
        expect((await settled()).cost).toBe(BigInt(read('stub/stall', false)) * inputPrice)
      })

      test('an ended run is a conflict; of others and unknown ones nothing is told', async () => {
        const { id } = await lastRun(w)
        const ended = await w.call(`/v1/runs/${id}/cancel`, { key: secret, method: 'POST' })
        expect(ended.status).toBe(409)
        const stranger = await w.key({ account: otherAccount })
        for (const run of [id, 'run_00000000000000000000000000', 'nonsense']) {
          const key = stranger.secret
          const answer = await w.call(`/v1/runs/${run}/cancel`, { key, method: 'POST' })
          expect(answer.status).toBe(404)
        }
      })
    })

    describe('a right that ends during a stream', () => {
      const rights: [string, 'key_revoked' | 'account_suspended'][] = [
        ['the key is revoked', 'key_revoked'],
        ['a key above is revoked', 'key_revoked'],
        ['the account is suspended', 'account_suspended'],
      ]
      for (const [what, type] of rights) {
        test(`${what}: the run stops and pays for what it delivered`, async () => {
          const parent = await w.key({ account: otherAccount, balance: usd })
          const child = await w.key({ account: otherAccount, parentId: parent.key.id })
          const run = await started('stub/slow', true, child.secret)
          const { rest } = await afterFirst(run.answer)
          if (type === 'account_suspended') await setStatus('suspended')
          else {
            const { key } = what === 'the key is revoked' ? child : parent
            await revokeKey(w.deps, { keyId: key.id, actor: 'test' })
          }
          await stopForbidden(w.deps)
          await upstreamStopped()
          const { error, isWhole } = door.read(await rest())
          expect([error, isWhole]).toEqual([type, false])
          const ended = await settled()
          expect([ended.outcome, ended.error?.type]).toEqual(['cancelled', type])
          expect(ended.cost).toBeGreaterThan(0n)
          const again = await chat('stub/normal', false, { key: child.secret })
          expect(door.read(await again.text()).error).toBe(type)
          await setStatus('active')
        })
      }

      test('others are left alone', async () => {
        const run = await started('stub/slow', true)
        const { rest } = await afterFirst(run.answer)
        await stopForbidden(w.deps)
        expect((await lastRun(w)).status).toBe('running')
        run.leave()
        await rest().catch(() => undefined)
        await settled()
      })

      const setStatus = (status: 'active' | 'suspended') =>
        w.deps.ledger.post({
          account: otherAccount,
          keys: [],
          decide(unit) {
            const account = unit.account(otherAccount)
            if (!account) throw new Error('no such account')
            account.status = status
            unit.changed('account', account)
          },
        })
    })

    fault`25`
    describe('504 upstream_timeout', () => {
      for (const [model, streams] of [
        ['first/stall', [false, true]],
        ['total/stall', [false, true]],
        ['idle/stall-1', [true]],
      ] as const) {
        for (const stream of streams) {
          test(`${model}, ${stream ? 'streamed' : 'plain'}: the hold is gone with the answer`, async () => {
            const answer = await chat(model, stream)
            const text = await answer.text()
            const ended = await lastRun(w)
            expect(ended.finishedAt).not.toBeNull()
            const isPartial = !model.endsWith('stall')
            expect(answer.status).toBe(isPartial ? 200 : 504)
            expect(door.read(text).error).toBe('upstream_timeout')
            expect(ended.outcome).toBe(isPartial ? 'partial' : 'failed')
            if (isPartial) expect(ended.cost).toBeGreaterThan(0n)
            else expect(ended.cost).toBe(0n)
            await upstreamStopped()
          })
        }
      }
    })
  })
}
