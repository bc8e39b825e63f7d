import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  type Asking,
  allPairs,
  chatBefore,
  inputBytesOf,
  nameOf,
  type Pair,
  type Wire,
  wiredToml,
} from '../support/doors.ts'
import { fault, promise } from '../support/promise.ts'
import {
  everythingWritten,
  expectSettled,
  inputPrice,
  lastRun,
  modelToml,
  outputPrice,
} from '../support/runs.ts'
import { startStubUpstream, stubWords } from '../support/stub-upstream.ts'
import { type Engine, engines, usd, type World, world } from '../support/world.ts'

const lies = ['negative', 'fractional', 'text', 'huge', 'missing', 'zero', 'exact']
const broken = ['redirect', 'leak', 'text', 'shape', 'status-401']
/** 50 MB of gzip take seconds on a busy machine: one door is enough. */
const brokenAt = (pair: Pair) => (pair === chatBefore ? [...broken, 'bomb'] : broken)
const cuts = ['cut-0', 'cut-1', 'reset-1', 'fault-1', 'broken-2', 'undone']
const names = [
  ...lies.map((lie) => `usage-${lie}`),
  ...broken,
  'bomb',
  ...cuts,
  'normal',
  'status-404',
]

/** The paths that model servers of each kind are asked at. */
const paths: Record<Wire, string> = {
  openai: 'chat/completions',
  anthropic: 'messages',
  responses: 'responses',
}
/** Another kind, for the second step of a route. */
const others: Record<Wire, Wire> = {
  openai: 'anthropic',
  anthropic: 'responses',
  responses: 'openai',
}

/** Every engine behind one door, and every other door on SQLite. */
const cases: [engine: Engine, pair: Pair][] = allPairs.flatMap((pair) =>
  (pair === chatBefore ? engines : ['sqlite' as const]).map((engine): [Engine, Pair] => [
    engine,
    pair,
  ]),
)

for (const [engine, pair] of cases) {
  const { door, wire } = pair
  describe(`upstreams that lie, on ${engine}, ${nameOf(pair)}`, () => {
    let stub: Awaited<ReturnType<typeof startStubUpstream>>
    let elsewhere: typeof stub
    let w: World
    let secret: string

    beforeAll(async () => {
      elsewhere = await startStubUpstream()
      stub = await startStubUpstream({ redirectTo: `${elsewhere.url}/${paths[wire]}` })
      const toml =
        wiredToml(stub.url, names) +
        modelToml('two/before', `"${wire}:status-500", "${wire}:normal"`) +
        modelToml('two/after', `"${wire}:cut-1", "${wire}:normal"`) +
        modelToml('two/kinds', `"${wire}:status-500", "${others[wire]}:normal"`)
      w = await world({ engine, toml })
      secret = (await w.key({ balance: 10n * usd })).secret
    })
    afterAll(async () => {
      await w.stop()
      for (const server of [stub, elsewhere]) await server.stop()
    })

    const asking = (model: string, stream: boolean): Asking => ({ model, stream, text: 'hello' })
    async function ask(model: string, stream: boolean) {
      const json = door.body(asking(model, stream))
      const answer = await w.call(door.path, { key: secret, json })
      const text = await answer.text()
      return { ...door.read(text), answer, all: text, run: await lastRun(w) }
    }

    describe('usage', () => {
      const counted = { source: 'counted', clamped: false }
      // Of the 25 bytes that came back, a token for four.
      const output = 7
      const charged: Record<string, [number | undefined, number, typeof counted]> = {
        negative: [undefined, output, counted],
        fractional: [8, 6, { source: 'reported', clamped: false }],
        text: [undefined, output, counted],
        missing: [undefined, output, counted],
        zero: [7, output, counted],
        exact: [7, 5, { source: 'reported', clamped: false }],
      }

      for (const [lie, [input, written, how]] of Object.entries(charged)) {
        promise`D9 C: A run is never charged more than its hold, whatever usage an upstream
          reports.`
        fault`27: an upstream lies about usage: 0, negative, huge, missing, twice → charged between
          what was delivered and the hold; the receipt says how`
        promise`D32`
        test(`${lie} usage is charged between what was delivered and the hold`, async () => {
          for (const isStream of [false, true]) {
            const model = `${wire}/usage-${lie}`
            const heard = await ask(model, isStream)
            const { run } = heard
            const read = input ?? Math.ceil(inputBytesOf(pair, asking(model, isStream)) / 4)
            expect([heard.answer.status, heard.text]).toEqual([200, stubWords.join('')])
            expect(run.cost).toBe(BigInt(read) * inputPrice + BigInt(written) * outputPrice)
            expect(run.cost).toBeLessThanOrEqual(run.hold)
            expect({ source: String(run.usageSource), clamped: run.clamped }).toEqual(how)
            expect(run.outcome).toBe('complete')
            expect(heard.cost).toBe(Number(run.cost))
            if (!pair.isNative) expect(heard.used).toEqual([read, written])
          }
        })
      }

      test('a huge usage is clamped to the hold', async () => {
        for (const isStream of [false, true]) {
          const { run } = await ask(`${wire}/usage-huge`, isStream)
          expect([run.cost, run.clamped, run.usageSource]).toEqual([run.hold, true, 'reported'])
        }
      })
    })

    describe('streams that break off', () => {
      test.each(['cut-1', 'reset-1', 'fault-1', 'broken-2'])(
        '%s: what came is charged, an error says so, and nothing looks whole',
        async (name) => {
          const { answer, run, error, isWhole, all } = await ask(`${wire}/${name}`, true)
          expect([answer.status, error, isWhole]).toEqual([200, 'upstream_error', false])
          expect(all).not.toContain('Nothing was charged')
          expect([run.status, run.outcome]).toEqual(['failed', 'partial'])
          expect(run.cost).toBeGreaterThan(0n)
          const output = run.lines.find(({ meter }) => meter === 'output')?.quantity
          const words = stubWords.slice(0, name === 'broken-2' ? 2 : 1).join('')
          expect(output).toBe(Math.ceil(words.length / 4))
        },
      )

      test('before the first byte it is a plain 502 that costs nothing', async () => {
        const { answer, run, error } = await ask(`${wire}/cut-0`, true)
        expect([answer.status, error]).toEqual([502, 'upstream_error'])
        expect([run.status, run.outcome, run.cost]).toEqual(['failed', 'failed', 0n])
      })

      test('without its last event it is whole where the finish was told before', async () => {
        const { run, isWhole } = await ask(`${wire}/undone`, true)
        // Responses tells that it finished in its last event alone.
        const isLenient = wire !== 'responses'
        expect([isWhole, run.outcome]).toEqual([isLenient, isLenient ? 'complete' : 'partial'])
      })
    })

    describe('answers that are none', () => {
      fault`24`
      test.each(brokenAt(pair))(
        '%s is a 502 that costs nothing, streamed or not',
        async (name) => {
          for (const isStream of [false, true]) {
            const { answer, run, error } = await ask(`${wire}/${name}`, isStream)
            expect([answer.status, error]).toEqual([502, 'upstream_error'])
            expect([run.outcome, run.cost, run.status]).toEqual(['failed', 0n, 'failed'])
          }
        },
        20_000,
      )

      promise`E2`
      fault`29`
      test('a redirect is not followed: the other server sees nothing', () => {
        expect(elsewhere.counts.requests).toBe(0)
      })

      test('a refusal is told in our words', async () => {
        const { answer, error, all } = await ask(`${wire}/status-404`, false)
        expect([answer.status, error]).toEqual([400, 'invalid_request'])
        expect(all).not.toContain('"no"')
      })
    })

    describe('the second step of a route', () => {
      test.each(['two/before', 'two/kinds'])(
        'is asked when the first gave no byte, within the same hold: %s',
        async (model) => {
          for (const isStream of [false, true]) {
            const heard = await ask(model, isStream)
            expect([heard.text, heard.isWhole]).toEqual([stubWords.join(''), true])
            const second = model === 'two/kinds' ? others[wire] : wire
            expect([heard.run.route, heard.run.outcome]).toEqual([`${second}:normal`, 'complete'])
          }
        },
      )

      test('is not asked after the first byte', async () => {
        const before = stub.calls.length
        const { isWhole, run } = await ask('two/after', true)
        expect([isWhole, run.outcome]).toEqual([false, 'partial'])
        expect(stub.calls.length).toBe(before + 1)
      })
    })

    test('no hold is left, and no upstream is named in what is written or logged', async () => {
      await expectSettled(w)
      const written = await everythingWritten(w)
      for (const never of [new URL(stub.url).host, 'sk-upstream', secret]) {
        expect(written).not.toContain(never)
      }
    })
  })
}
