import { describe, expect, test } from 'bun:test'
import { issueKey } from '../../src/access/keys/issue.ts'
import { createApp } from '../../src/app/routes.ts'
import { makeDeps } from '../../src/app/wiring.ts'
import { grantCredit } from '../../src/ledger/grant.ts'
import { auditStore } from '../../src/ledger/store/audit.ts'
import { signerFromHex } from '../../src/proof/signer/signer.ts'
import { openPostgres } from '../../src/storage/db/engine/postgres.ts'
import { migratePostgres } from '../../src/storage/db/schema/migrate.ts'
import { serve } from '../../src/web/http/serve.ts'
import { type EmptyDatabase, emptyDatabase, postgresServer } from '../support/postgres.ts'
import { promise } from '../support/promise.ts'
import { chunkOf, frameOf, modelsToml, until } from '../support/runs.ts'
import { type SilentProxy, startSilentProxy, targetOf } from '../support/silent-proxy.ts'
import { type StubUpstream, startStubUpstream, stubUsage } from '../support/stub-upstream.ts'
import { configOf, testAccount, testPrivateKey, usd } from '../support/world.ts'

const quiet = () => {}
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet }

type Doubted = Awaited<ReturnType<typeof start>>

type DoorRequest = { path: string; body: object }

const chat: DoorRequest = {
  path: '/v1/chat/completions',
  body: { messages: [{ role: 'user', content: 'hi' }] },
}

/** A service whose database is behind a proxy, with one key and an upstream that says hello. */
async function start() {
  const database: EmptyDatabase = await emptyDatabase()
  const proxy: SilentProxy = startSilentProxy(targetOf(database.url))
  /** Called when the upstream is asked: the hold stands, and the next COMMIT is that of the end. */
  const hooks = { atUpstream: quiet }
  const upstream: StubUpstream = await startStubUpstream({
    handler: async ({ body }, response) => {
      hooks.atUpstream()
      if (body['stream'] === true) {
        const usage = frameOf({ choices: [], usage: stubUsage })
        const frames = [chunkOf({ content: 'hello' }), chunkOf({}, 'stop'), usage]
        return void response.end(`${frames.join('')}data: [DONE]\n\n`)
      }
      const message = { role: 'assistant', content: 'hello' }
      const choices = [{ index: 0, finish_reason: 'stop', message }]
      response.end(JSON.stringify({ choices, usage: stubUsage }))
    },
  })
  const db = openPostgres(proxy.urlOf(database.url))
  await migratePostgres(db.drizzle, 0)
  const listen = { hostname: '127.0.0.1', port: 0 }
  const config = { ...configOf(modelsToml(upstream.url, ['chat'])), listen }
  const deps = await makeDeps({ config, db, signer: signerFromHex(testPrivateKey), log })
  const server = serve(createApp(deps), deps.settings.listen)
  deps.settings.baseUrl = `http://localhost:${server.port}`
  const reason = 'test'
  await grantCredit(deps, { account: testAccount, amount: usd, reason, actor: 'operator' })
  const wish = { account: testAccount, name: 'test', capLimit: usd, actor: 'test' } as const
  const { secret } = await issueKey(deps, { ...wish, capWindow: 'lifetime' })
  return {
    deps,
    proxy,
    hooks,
    ask: ({ path, body }: DoorRequest = chat) =>
      fetch(`${deps.settings.baseUrl}${path}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${secret}`,
          'content-type': 'application/json',
          'idempotency-key': 'the-one',
        },
        body: JSON.stringify({ model: 'stub/chat', ...body }),
      }),
    /** What the database says, past the proxy: one run, paid once, with nothing held. */
    expectPaidOnce: async () => {
      const [sums] = await database.sql`
      select (select count(*) from runs where cost > 0 and outcome = 'complete') as paid,
             (select count(*) from open_runs) as open,
             (select count(*) from journal where kind = 'run') as transfers,
             (select sum(held) from accounts) as held`
      expect(sums).toMatchObject({ paid: '1', open: '0', transfers: '1', held: '0' })
      expect(await auditStore(db).faults(Date.now())).toEqual([])
    },
    stop: async () => {
      await server.stop(true)
      await deps.sequencer.stop()
      await db.close()
      await upstream.stop()
      proxy.stop()
      await database.drop()
    },
  }
}

/** Runs a test on a service of its own: they wait for ten seconds each, all at once. */
async function onService(run: (served: Doubted) => Promise<void>): Promise<void> {
  const served = await start()
  await run(served).finally(served.stop)
}

promise`K21`
describe.skipIf(!postgresServer)(
  'a run whose end is in doubt, because the answer to its COMMIT is lost',
  () => {
    const cuts: [what: string, arrives: boolean][] = [
      ['happened: it is found, and its answer is given', true],
      ['did not happen: it is made again', false],
    ]
    test.concurrent.each(cuts)(
      '%s',
      (_, arrives) =>
        onService(async ({ hooks, proxy, ask, expectPaidOnce }) => {
          hooks.atUpstream = () => proxy.cutAt('COMMIT', arrives)
          const answer = await ask()
          expect(answer.status).toBe(200)
          expect((await answer.json()).choices[0].message.content).toBe('hello')
          await expectPaidOnce()
          expect((await ask()).status).toBe(200)
          await expectPaidOnce()
        }),
      30_000,
    )

    const doors: DoorRequest[] = [
      { ...chat, body: { ...chat.body, stream: true } },
      { path: '/v1/responses', body: { input: 'hi' } },
      { path: '/v1/responses', body: { input: 'hi', stream: true } },
    ]
    test.concurrent.each(doors)(
      'did not happen: what was told at $path stays true, with its digest, and is told again',
      (door) =>
        onService(async ({ deps, hooks, proxy, ask, expectPaidOnce }) => {
          hooks.atUpstream = () => proxy.cutAt('COMMIT', false)
          const answer = await ask(door)
          const told = await answer.text()
          await expectPaidOnce()
          expect(await (await ask(door)).text()).toBe(told)
          const id = answer.headers.get('x-receipt-id')?.replace('rcpt_', 'run_') ?? ''
          const run = await deps.runs.find(id)
          expect(told).toContain(`0x${Buffer.from(run?.digest ?? []).toString('hex')}`)
        }),
      30_000,
    )

    const silences: [what: string, arrives: boolean][] = [
      ['is a 503 that says so; asked again it is answered, and paid once', true],
      [
        'is a 503 that says so; what never arrived is freed, and paid once it is asked again',
        false,
      ],
    ]
    test.concurrent.each(silences)(
      'with a server that vanished it %s',
      (_, arrives) =>
        onService(async ({ deps, hooks, proxy, ask, expectPaidOnce }) => {
          hooks.atUpstream = () => proxy.vanishAt('COMMIT', arrives)
          const answer = await ask()
          const { error } = await answer.json()
          expect([answer.status, error.metadata.reason]).toEqual([503, 'storage_unreachable'])
          expect(error.message).toContain('may have been stored and charged')
          expect(answer.headers.get('x-should-retry')).toBe('false')
          proxy.comeBack()
          hooks.atUpstream = quiet
          await until(
            'the end to be settled',
            () =>
              deps.live.settleAgain().then(
                () => true,
                () => undefined,
              ),
            40_000,
          )
          expect((await ask()).status).toBe(200)
          await expectPaidOnce()
        }),
      90_000,
    )
  },
)
