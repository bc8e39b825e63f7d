import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { issueKey } from '../../src/access/keys/issue.ts'
import { createApp } from '../../src/app/routes.ts'
import { makeDeps, type Service } from '../../src/app/wiring.ts'
import { grantCredit } from '../../src/ledger/grant.ts'
import { auditStore } from '../../src/ledger/store/audit.ts'
import { signerFromHex } from '../../src/proof/signer/signer.ts'
import { migratePostgres } from '../../src/storage/db/migrate.ts'
import { openPostgres } from '../../src/storage/db/postgres.ts'
import { serve } from '../../src/web/http/serve.ts'
import { type EmptyDatabase, emptyDatabase, postgresServer } from '../support/postgres.ts'
import { modelsToml, until } from '../support/runs.ts'
import { type SilentProxy, startSilentProxy, targetOf } from '../support/silent-proxy.ts'
import { type StubUpstream, startStubUpstream, stubUsage } from '../support/stub-upstream.ts'
import { configOf, testAccount, testPrivateKey, usd } from '../support/world.ts'

const quiet = () => {}
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet }

describe.skipIf(!postgresServer)(
  'a run whose end is in doubt, because the answer to its COMMIT is lost',
  () => {
    let database: EmptyDatabase
    let proxy: SilentProxy
    let upstream: StubUpstream
    let db: ReturnType<typeof openPostgres>
    let deps: Service
    let server: Bun.Server<undefined>
    let secret: string
    /** Called when the upstream is asked: the hold stands, and the next COMMIT is that of the end. */
    let atUpstream = (): void => {}

    beforeEach(async () => {
      database = await emptyDatabase()
      proxy = startSilentProxy(targetOf(database.url))
      upstream = await startStubUpstream({
        handler: async (_, response) => {
          atUpstream()
          const message = { role: 'assistant', content: 'hello' }
          const choices = [{ index: 0, finish_reason: 'stop', message }]
          response.end(JSON.stringify({ choices, usage: stubUsage }))
        },
      })
      db = openPostgres(proxy.urlOf(database.url))
      await migratePostgres(db.drizzle, 0)
      const listen = { hostname: '127.0.0.1', port: 0 }
      const config = { ...configOf(modelsToml(upstream.url, ['chat'])), listen }
      deps = await makeDeps({ config, db, signer: signerFromHex(testPrivateKey), log })
      server = serve(createApp(deps), deps.settings.listen)
      deps.settings.baseUrl = `http://localhost:${server.port}`
      const reason = 'test'
      await grantCredit(deps, { account: testAccount, amount: usd, reason, actor: 'operator' })
      const wish = { account: testAccount, name: 'test', capLimit: usd, actor: 'test' } as const
      secret = (await issueKey(deps, { ...wish, capWindow: 'lifetime' })).secret
    }, 30_000)
    afterEach(async () => {
      await server.stop(true)
      await deps.sequencer.stop()
      await db.close()
      await upstream.stop()
      proxy.stop()
      await database.drop()
    }, 30_000)

    const ask = () =>
      fetch(`${deps.settings.baseUrl}/v1/chat/completions`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${secret}`,
          'content-type': 'application/json',
          'idempotency-key': 'the-one',
        },
        body: JSON.stringify({ model: 'stub/chat', messages: [{ role: 'user', content: 'hi' }] }),
      })
    /** What the database says, past the proxy: one run, paid once, with nothing held. */
    const expectPaidOnce = async () => {
      const [sums] = await database.sql`
      select (select count(*) from runs where cost > 0 and outcome = 'complete') as paid,
             (select count(*) from runs where finished_at is null) as open,
             (select count(*) from transfers where kind = 'run') as transfers,
             (select sum(held) from accounts) as held`
      expect(sums).toMatchObject({ paid: '1', open: '0', transfers: '1', held: '0' })
      expect(await auditStore(db).faults(Date.now())).toEqual([])
    }

    const cuts: [what: string, arrives: boolean][] = [
      ['happened: it is found, and its answer is given', true],
      ['did not happen: it is made again', false],
    ]
    test.each(cuts)(
      '%s',
      async (_, arrives) => {
        atUpstream = () => proxy.cutAt('COMMIT', arrives)
        const answer = await ask()
        expect(answer.status).toBe(200)
        expect((await answer.json()).choices[0].message.content).toBe('hello')
        await expectPaidOnce()
        expect((await ask()).status).toBe(200)
        await expectPaidOnce()
      },
      30_000,
    )

    const silences: [what: string, arrives: boolean][] = [
      ['is a 503 that says so; asked again it is answered, and paid once', true],
      [
        'is a 503 that says so; what never arrived is freed, and paid once it is asked again',
        false,
      ],
    ]
    test.each(silences)(
      'with a server that vanished it %s',
      async (_, arrives) => {
        atUpstream = () => proxy.vanishAt('COMMIT', arrives)
        const answer = await ask()
        const { error } = await answer.json()
        expect([answer.status, error.metadata.reason]).toEqual([503, 'storage_unreachable'])
        expect(error.message).toContain('may have been stored and charged')
        expect(answer.headers.get('x-should-retry')).toBe('false')
        proxy.comeBack()
        atUpstream = quiet
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
      },
      90_000,
    )
  },
)
