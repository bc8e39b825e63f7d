import { expectSettled, modelsToml, pricedBuiltins, until } from '../support/runs.ts'
import { startStubUpstream } from '../support/stub-upstream.ts'
import { type Engine, usd, world } from '../support/world.ts'

export const echo = 'counterfoil/echo-1'

export type Native = Awaited<ReturnType<typeof nativeWorld>>

/** A service with an upstream and a funded key, for the routes of runs. */
export async function nativeWorld(engine: Engine) {
  const stub = await startStubUpstream()
  const models = modelsToml(stub.url, ['normal', 'slow', 'stall', 'cut-1', 'status-500'])
  const w = await world({ engine, toml: pricedBuiltins + models, now: Date.UTC(2026, 5, 1) })
  const { secret, key } = await w.key({ balance: 10n * usd })
  return {
    w,
    stub,
    secret,
    keyId: key.id,
    stop: async () => {
      await expectSettled(w)
      await w.stop()
      await stub.stop()
    },
  }
}

/** Calls of the routes of runs, with the key of the service unless told otherwise. */
export function callsOf(native: () => Native) {
  const get = (path: string, key = native().secret) => native().w.call(path, { key })
  const post = (json: object, key = native().secret) => native().w.call('/v1/runs', { key, json })
  const show = async (id: string) => (await get(`/v1/runs/${id}`)).json()
  return {
    get,
    post,
    show,
    background: (model: string) => post({ model, input: 'one two', background: true }),
    ended: (id: string) =>
      until('the run to end', async () => {
        const run = await show(id)
        return run.finished_at === null ? undefined : run
      }),
  }
}
