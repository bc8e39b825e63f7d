import { expect, test } from 'bun:test'
import { copyFileSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fund, makeHome, noBinary } from '../support/binary.ts'
import { startReceiver } from '../support/event-receiver.ts'
import { freePort } from '../support/free-port.ts'
import { promise } from '../support/promise.ts'
import { until } from '../support/runs.ts'

const secret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`

const textOf = (file: string): string => (existsSync(file) ? readFileSync(file, 'utf8') : '')

promise`E21`
test.skipIf(noBinary)(
  'A log that was set back is told to the webhook of the operator once, not at every look.',
  async () => {
    const receiver = startReceiver()
    receiver.trust('/', secret)
    const home = await makeHome()
    const file = join(home.data, 'counterfoil.db')
    const start = (probe: '/readyz' | '/livez') => {
      const env = { COUNTERFOIL_HOOK: secret }
      const args = ['--dev', '--data', home.data]
      return home.start({ args, env, probe, port: freePort() })
    }
    try {
      const key = await fund(home, '1.00')
      // The log of a service goes by its name, which a free port would change.
      home.configure(`base_url = "http://localhost:4663"

[[webhooks]]
id = "pager"
url = "${receiver.url('/')}"
secret_env = "COUNTERFOIL_HOOK"`)
      const leave = async (receipts: number) => {
        const server = await start('/readyz')
        const heads = join(home.data, 'heads.json')
        const known = textOf(heads)
        const json = { model: 'counterfoil/echo-1', input: 'hello' }
        for (let i = 0; i < receipts; i++) {
          expect((await server.call('/v1/runs', { key, json })).status).toBe(200)
        }
        await until('a signed head', () => textOf(heads) !== known, 20_000)
        expect(await server.stop()).toBe(0)
      }
      await leave(1)
      copyFileSync(file, `${file}.old`)
      await leave(3)
      expect(receiver.arrivals).toEqual([])
      for (const end of ['', '-wal', '-shm']) rmSync(file + end, { force: true })
      copyFileSync(`${file}.old`, file)
      const server = await start('/livez')
      await until('the event', () => receiver.arrivals.length > 0, 20_000)
      await Bun.sleep(3500)
      expect(receiver.arrivals.map(({ isSigned }) => isSigned)).toEqual([true])
      expect(JSON.parse(receiver.arrivals[0]?.body ?? '')).toMatchObject({
        type: 'log.diverged',
        account: null,
        data: { known: true },
      })
      await server.stop('SIGKILL')
    } finally {
      await home.remove()
      await receiver.stop()
    }
  },
  120_000,
)
