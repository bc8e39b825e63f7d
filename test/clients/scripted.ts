import { expect } from 'bun:test'
import { modelToml, upstreamToml } from '../support/runs.ts'
import {
  type Entry,
  startScripted,
  type Units,
  type WireName,
  wireNames,
} from '../support/scripted-upstream.ts'
import { type Run, startServing } from './served.ts'

/** Pico-USD a unit: every class has a rate of its own, so that each has a line. */
const rates: Units = {
  input: 1_000_000,
  cache_read: 100_000,
  cache_write: 1_250_000,
  cache_write_1h: 2_000_000,
  image_input: 1_500_000,
  output: 2_000_000,
  reasoning: 3_000_000,
}
const classes = Object.entries(rates)
  .filter(([meter]) => meter !== 'input' && meter !== 'output')
  .map(([meter, rate]) => `${meter}_pusd = ${rate}`)
const more = [...classes, 'image_tokens_max = 100'].join('\n')

/** A model with a rate for reasoning is else read to its end when its client hangs up. */
const cut = `${more}\non_disconnect = "cut"`

/** Upstream names of models: one that calls tools, one that also thinks, one that never ends. */
export const models = ['agent', 'thinker', 'endless'] as const

/** Agents send tens of thousands of bytes before the first word of a person. */
const coderToml = (id: string, route: string, rest = more): string =>
  modelToml(id, route, rest)
    .replace('context_tokens = 10000', 'context_tokens = 400_000')
    .replace('max_output_tokens = 1000', 'max_output_tokens = 32_000')

const kinds = { openai: '', anthropic: 'kind = "anthropic"', responses: 'kind = "responses"' }
const tomlOf = (url: string): string =>
  wireNames
    .flatMap((wire) => [
      upstreamToml(wire, url, `breaker_failures = 0\n${kinds[wire]}`),
      ...models.map((name) =>
        modelToml(`${wire}/${name}`, `"${wire}:${name}"`, name === 'endless' ? cut : more),
      ),
      coderToml(`${wire}/coder`, `"${wire}:coder"`),
      coderToml(`${wire}/coder-endless`, `"${wire}:endless"`, cut),
    ])
    .join('\n')

export type Agents = Awaited<ReturnType<typeof serveAgents>>

/**
 * The executable before one scripted model server of each kind: `<kind>/<model>` of {@link models}.
 * `billed` runs some work and compares the bill with the account of the server.
 */
export async function serveAgents(toml: string = '') {
  const scripted = await startScripted()
  const service = await startServing(scripted, `${tomlOf(scripted.url)}\n${toml}`)
  return {
    ...service,
    scripted,
    origin: service.server.origin,
    /** All that `work` ran, each run billed for what the server says that it used. */
    async billed(work: () => Promise<unknown>): Promise<{ runs: Run[]; entries: Entry[] }> {
      const known = scripted.account.length
      const runs = await service.ranBy(work)
      const entries = scripted.account.slice(known)
      expectBill(runs, entries)
      return { runs, entries }
    },
    /**
     * An abort of the model that never ends: `work` reads five words and hangs up. The run is
     * charged for at least these, and for no more than the server sent.
     */
    async aborted(work: () => Promise<unknown>): Promise<void> {
      const { runs } = await this.billed(work)
      expect(runs.map(({ outcome }) => outcome)).toEqual(['cancelled'])
      expect(scripted.counts.active).toBe(0)
    },
  }
}

/** Each run is billed for one answer of the account; runs at once may end in another order. */
function expectBill(runs: Run[], entries: Entry[]): void {
  const cut = entries.filter(({ isCut }) => isCut)
  const stopped = runs.filter(({ outcome }) => outcome === 'cancelled')
  expect(stopped).toHaveLength(cut.length)
  stopped.forEach((run, at) => {
    const entry = cut[at]
    if (entry) expectCut(run, entry)
  })
  const rest = runs.filter((run) => !stopped.includes(run))
  const whole = entries.filter(({ isCut }) => !isCut).map(({ units }) => units)
  expect(rest.map(unitsOf).sort(byUnits)).toEqual(whole.sort(byUnits))
  for (const run of rest) {
    expect(run).toMatchObject({ outcome: 'complete', usage_source: 'reported' })
    expect(run.cost_nusd).toBe(costOf(unitsOf(run)))
  }
}

const keyOf = (units: Units): string => JSON.stringify(Object.entries(units).sort())
const byUnits = (one: Units, two: Units): number => keyOf(one).localeCompare(keyOf(two))

export function unitsOf(run: Run | undefined): Units {
  return Object.fromEntries((run?.lines ?? []).map(({ meter, quantity }) => [meter, quantity]))
}

/** In nano-USD, rounded up once. */
export const costOf = (units: Units): number =>
  Math.ceil(
    Object.entries(units).reduce((sum, [meter, count]) => sum + count * (rates[meter] ?? 0), 0) /
      1000,
  )

/** Words that a test reads before it hangs up, and the bytes of each that the server sends. */
export const wordsRead = 5
const bytesOfWord = ' word'.length

function expectCut(run: Run, { wire, units, words }: Entry): void {
  const { output = 0, ...read } = unitsOf(run)
  // Where a client chose the end, a token has three bytes at most.
  expect(output).toBeGreaterThanOrEqual(wordsRead)
  expect(output).toBeLessThanOrEqual(Math.ceil((words * bytesOfWord) / 3))
  const { output: _, ...reported } = units
  // Anthropic's servers say what they read before the first word; others did not come to it.
  if (wire === 'anthropic') expect(read).toEqual(reported)
  else expect(read).toEqual({ input: expect.any(Number) })
  expect(run.cost_nusd).toBe(costOf(unitsOf(run)))
  expect(run.cost_nusd).toBeLessThan(run.hold_nusd)
}

/** A picture of one dot, as a data URL and as base64. */
export const dot =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
export const dotUrl = `data:image/png;base64,${dot}`

/** What a person reads of a 402: what lacks and a way out. */
export const shortage = /This run may cost \$\S+, and key .+ has \$0\S* left.*(raise the cap)/

/** What a description calls each kind of server. */
export const eachWire = wireNames.map((wire): [WireName] => [wire])
