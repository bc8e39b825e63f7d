import { makeQuote } from '../../src/billing/quotes/make-quote.ts'
import { toPrices } from '../../src/models/prices.ts'
import { begin } from '../../src/runs/begin.ts'
import { actorOf, type Command, callerOf, nodeOf, pickKey, type Sim } from './command.ts'
import { bodyOf, inputOf, launch } from './flight.ts'
import { judgeBegin, must } from './model.ts'
import { prices } from './model-prices.ts'
import { judgeQuote } from './model-quotes.ts'
import { secretOf } from './model-secrets.ts'

/** The most that a quote of the simulation is for, in tokens. */
const most = { max_input_tokens: 1000, max_output_tokens: 1000 }

/** Promises any account a price beside the list, as if that had changed since. */
export function quote(sim: Sim): Command | undefined {
  const { m, random } = sim
  const node = nodeOf(sim)
  const { deps, trace } = actorOf(node)
  const key = pickKey(sim, node.now())
  const secret = key && secretOf(m, key.id)
  if (!key || secret === undefined) return undefined
  const part = random.pick([
    { times: 1n, per: 2n },
    { times: 1n, per: 1n },
    { times: 3n, per: 1n },
  ])
  const uses = 1 + random.below(3)
  const valid_s = random.pick([10, 3600])
  return {
    kind: 'quote',
    say: `by ${key.id}, ${part.times}/${part.per} of the list, ${uses} times`,
    node,
    trace,
    isAtomic: true,
    async perform() {
      const caller = await callerOf(deps, secret)
      const found = must(deps.catalogue.get('sim/chat'))
      const of = (price: bigint) => (price * part.times) / part.per
      const at = { input_pusd: of(prices.input), output_pusd: of(prices.output) }
      const model = { ...found, prices: toPrices({ ...at, request_nusd: of(prices.request) }) }
      const wish = { model: found.id, ...most, valid_s, uses, account: 'any' as const }
      await makeQuote(deps, { caller, model, wish })
    },
    judge() {
      const expiresAt = node.now() + valid_s * 1000
      const id = must(trace.ids.get('quote'))
      return judgeQuote(m, key.id, { ...part, uses, expiresAt }, id, node.now())
    },
  }
}

/** Holds money at the rates of a quote and lets the run stream. */
export function beginQuoted(sim: Sim): Command | undefined {
  const { m, random, w } = sim
  const node = nodeOf(sim)
  const { deps, trace } = actorOf(node)
  const key = pickKey(sim, node.now())
  const secret = key && secretOf(m, key.id)
  const known = [...m.quotes.keys()].slice(-6)
  if (!key || secret === undefined || known.length === 0) return undefined
  const id = random.pick(known)
  const tag = `run${++sim.serial}`
  const output = 1 + random.below(300)
  const body = bodyOf(tag, random.below(200), output)
  const inputBytes = inputOf(body)
  return {
    kind: 'begin quoted',
    say: `${tag} of ${key.id} with ${id}, at most ${inputBytes} + ${output} tokens`,
    node,
    trace,
    isAtomic: true,
    keys: [key.id],
    async perform() {
      const caller = await callerOf(deps, secret)
      const model = must(deps.catalogue.get('sim/chat'))
      const channel = w.upstream.expect(tag)
      const asked = { caller, model, body, received: body, background: false, quote: id }
      const live = await begin(deps, { ...asked, tags: {}, metadata: {} })
      const { inputTokens: input, outputTokens } = live.bound
      const nothing = { bytes: 0, deltas: 0, failed: 0 }
      const flown = { input, output: outputTokens, inputBytes, ...nothing }
      await launch(sim, deps, { id: live.id, tag, node, trace, channel, live, ...flown })
    },
    judge() {
      if (must(m.quotes.get(id)).expiresAt <= node.now()) return 'gone'
      const wish = { key: key.id, input: inputBytes, output, fit: false, node: node.name }
      // Its hold is a COMMIT on every engine.
      const stored = { ...wish, stored: true, quote: id }
      return judgeBegin(m, stored, must(trace.ids.get('run')), node.now())
    },
  }
}
