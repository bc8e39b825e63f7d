import { begin } from '../../src/runs/begin.ts'
import type { LiveRun } from '../../src/runs/live-run.ts'
import type { RunRequest } from '../../src/runs/opening.ts'
import type { Ending, RunEnd } from '../../src/runs/settlement.ts'
import { modelToml, upstreamToml } from '../support/runs.ts'
import { usd, type World } from '../support/world.ts'

/** A plain model, and one so dear that a thousand tokens of it are more than there can be. */
export const beginnerToml = `${upstreamToml('stub', 'http://127.0.0.1:9')}
${modelToml('stub/any', '"stub:any"')}
${modelToml('stub/gold', '"stub:gold"').replace('= 2_000_000', '= 9_000_000_000_000_000')}
`

export type Beginner = ReturnType<typeof beginnerOf>
export type TestCaller = Awaited<ReturnType<Beginner['callerOf']>>

let made = 0

/** Begins runs as the doors do, without them. */
export function beginnerOf(w: World) {
  const modelOf = (id: string) => {
    const model = w.deps.catalogue.get(id)
    if (!model) throw new Error(`no model ${id}`)
    return model
  }
  /** An account with a key, as the door hands them to a run. */
  const callerOf = async (balance = usd) => {
    const account = `0x${(++made).toString(16).padStart(40, 'b')}`
    const { key } = await w.key({ account, balance })
    const [plan] = w.deps.plans.list
    if (!plan) throw new Error('no plan')
    return { account, suspended: false, plan, chain: [key], key }
  }
  const start = (
    caller: Awaited<ReturnType<typeof callerOf>>,
    more: Partial<RunRequest> = {},
    deps: Parameters<typeof begin>[0] = w.deps,
  ) => {
    const body = { model: 'stub/any', messages: [{ role: 'user', content: 'hi' }], max_tokens: 10 }
    const rest = { background: false, tags: {}, metadata: {} }
    const model = modelOf('stub/any')
    return begin(deps, { caller, model, body, received: body, ...rest, ...more })
  }
  const heldBy = async ({ account }: { account: string }) =>
    (await w.deps.accounts.find(account))?.held
  return { modelOf, callerOf, start, heldBy }
}

/** A run as its end stores it, after no time. */
export const settledOf = (
  { row, model }: Pick<LiveRun, 'row' | 'model'>,
  ending: Ending,
): RunEnd => ({
  open: row,
  prices: model.prices,
  ending,
  durationMs: 0,
})

export const endingOf = (more: Partial<Ending> = {}): Ending => ({
  ...{ outcome: 'complete', route: 'stub:any', usage: { inputTokens: 5, outputTokens: 5 } },
  ...{ usageSource: 'reported', clamped: false, firstByteAt: null, error: null, output: 'out' },
  ...more,
})
