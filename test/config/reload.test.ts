import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { reloader } from '../../src/app/reload.ts'
import { readConfig } from '../../src/config/file.ts'
import { promise } from '../support/promise.ts'
import { lastRun, modelToml, until, upstreamToml } from '../support/runs.ts'
import { type StubUpstream, startStubUpstream } from '../support/stub-upstream.ts'
import { engines, usd, type World, world } from '../support/world.ts'
import { configOf, load } from './load.ts'

/** Answers only once it is let go. */
function gatedUpstream() {
  const gate = Promise.withResolvers<void>()
  const started = startStubUpstream({
    async handler(_, response) {
      await gate.promise
      const message = { role: 'assistant', content: 'word' }
      const choices = [{ index: 0, message, finish_reason: 'stop' }]
      const usage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 }
      const answer = { id: 'c', object: 'chat.completion', created: 1, model: 'm', choices, usage }
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
    },
  })
  return { started, open: gate.resolve }
}

for (const engine of engines) {
  describe(`a configuration read again on ${engine}`, () => {
    const gate = gatedUpstream()
    let stub: StubUpstream
    let w: World
    let key = ''
    let text = ''
    const levels: string[] = []
    let reload: ReturnType<typeof reloader>

    const dearer = (toml: string) => toml.replace('= 2_000_000', '= 4_000_000')
    const run = async (model: string) => {
      const json = { model, input: 'hello', max_output_tokens: 50 }
      return w.call('/v1/runs', { key, json })
    }
    const cheap = () => upstreamToml('stub', stub.url) + modelToml('stub/any', '"stub:any"')

    beforeAll(async () => {
      stub = await gate.started
      text = cheap()
      w = await world({ engine, toml: text })
      key = (await w.key({ balance: 10n * usd })).secret
      const log = { ...w.deps.log, setLevel: (level: string) => void levels.push(level) }
      const config = configOf({ fileText: text })
      reload = reloader({ service: w.deps, log, config, readAgain: () => load({ fileText: text }) })
    }, 30_000)
    afterAll(async () => {
      gate.open()
      await w.stop()
      await stub.stop()
    })

    promise`D10`
    test('new prices are a version with a leaf of the log; a run in flight keeps its own', async () => {
      const early = run('stub/any')
      await until('a run in flight', () => w.deps.live.count() === 1)
      const before = w.deps.catalogue.priceList
      text = dearer(cheap())
      expect(await reload()).toEqual({ changed: ['models "stub/any"'], restart: [] })
      const after = w.deps.catalogue.priceList
      expect(after.version).toBe(before.version + 1)
      gate.open()
      expect((await early).status).toBe(200)
      const old = await lastRun(w)
      expect([old.priceList, old.cost]).toEqual([`default@${before.version}`, 10_000n + 20_000n])
      expect((await run('stub/any')).status).toBe(200)
      const now = await lastRun(w)
      expect([now.priceList, now.cost]).toEqual([`default@${after.version}`, 10_000n + 40_000n])
      // Where several nodes may write, a leaf has its place a moment after its run.
      const place = async () => (await w.deps.site.placeOfPrices(after)) ?? 0
      await until('its leaf', async () => (await place()) > 0)
      const shown = await (await w.call('/v1/models')).json()
      expect(shown.price_list).toEqual(after)
    })

    test('read again without a change, the version stays', async () => {
      const { version } = w.deps.catalogue.priceList
      expect(await reload()).toEqual({ changed: [], restart: [] })
      expect(w.deps.catalogue.priceList.version).toBe(version)
    })

    test('names of models follow at once', async () => {
      expect((await run('best')).status).toBe(404)
      text = `aliases = { "best" = "stub/any" }\n${dearer(cheap())}`
      expect(await reload()).toEqual({ changed: ['aliases'], restart: [] })
      expect((await run('best')).status).toBe(200)
      expect((await lastRun(w)).model).toBe('stub/any')
      text = dearer(cheap())
      expect(await reload()).toEqual({ changed: ['aliases'], restart: [] })
      expect((await run('best')).status).toBe(404)
    })

    test('a faulty one is refused as a whole, with every fault in the log', async () => {
      text = `${cheap()}${modelToml('stub/two', '"unknown:two"')}[limits]\nrpm = "many"\n`
      const refused = await reload()
      expect(refused).toEqual({
        problems: [
          expect.stringContaining('limits.rpm'),
          expect.stringContaining('unknown upstream'),
        ],
      })
      expect(w.logged.at(-1)).toMatchObject({ event: 'config.refused', fields: refused })
      expect((await run('stub/two')).status).toBe(404)
      expect((await run('stub/any')).status).toBe(200)
    })

    test('models, plans and limits follow; what needs a restart is named and stays', async () => {
      const plan = '[[plans]]\nid = "builder"\nprice_nusd = 7_000_000_000\n'
      const more = '[limits]\nrpm = 77\nbody_bytes = 2048\n[log]\nlevel = "warn"\n'
      const fixed = 'data = "./elsewhere"\n'
      text = fixed + dearer(cheap()) + modelToml('stub/two', '"stub:two"') + plan + more
      expect(await reload()).toEqual({
        changed: [
          'log.level',
          'limits.body_bytes',
          'limits.rpm',
          'models "stub/two"',
          'plans "builder"',
        ],
        restart: ['data', 'database_url'],
      })
      expect(levels.at(-1)).toBe('warn')
      expect((await run('stub/two')).status).toBe(200)
      expect(w.deps.plans.find('builder')?.price).toBe(7n * usd)
      expect(w.deps.plans.find('free')?.limits.rpm).toBe(77)
      const long = { model: 'stub/two', input: 'x'.repeat(3000) }
      expect((await w.call('/v1/runs', { key, json: long })).status).toBe(413)
      // Told again as long as it holds.
      expect(await reload()).toEqual({ changed: [], restart: ['data', 'database_url'] })
    })

    test('what is offered no more is refused', async () => {
      text = ''
      expect(await reload()).toMatchObject({ restart: [] })
      expect((await run('stub/any')).status).toBe(404)
      expect(w.deps.plans.find('builder')).toBeUndefined()
      expect((await run('counterfoil/echo-1')).status).toBe(200)
    })

    test('calls at once come one after the other, and the last word holds', async () => {
      text = cheap()
      const first = reload()
      text = dearer(cheap())
      await Promise.all([first, reload(), reload()])
      expect(w.deps.catalogue.get('stub/any')?.prices.outputPusd).toBe(4_000_000n)
    })
  })
}

test('the configuration of a process is read from the file that it names', () => {
  expect(readConfig({}, '/nowhere/counterfoil.toml')).toEqual({
    problems: [
      '/nowhere/counterfoil.toml: there is no such configuration file; ' +
        'correct --config or COUNTERFOIL_CONFIG, or write the file: counterfoil init',
    ],
  })
})
