import type { JsonObject } from '../../src/models/upstream/upstream.ts'
import { setRetention } from '../../src/storage/texts/retain.ts'
import { retentions } from '../../src/storage/texts/retention.ts'
import { runsDoor } from '../support/doors.ts'
import {
  actorOf,
  type Command,
  nodeOf,
  pickKey,
  type Said,
  type Sim,
  type Trace,
} from './command.ts'
import { ask, letSecondPass, refusedAtDoor } from './commands-doors.ts'
import { aside } from './commands-money.ts'
import { type Flight, inputOf } from './flight.ts'
import { dayMs, judgeBegin, must } from './model.ts'
import { dropTexts, judgeRetention, judgeTidy, pollOf } from './model-kept.ts'
import { secretOf } from './model-secrets.ts'
import type { Node } from './world.ts'

/** A run in the background by the door, with an Idempotency-Key; often one that was used before. */
export function runBehind(sim: Sim): Command | undefined {
  const { m, random } = sim
  const node = nodeOf(sim)
  letSecondPass(sim)
  const said = random.below(3) === 0 && sim.asked.length > 0 ? again(sim) : fresh(sim, node)
  if (!said) return undefined
  const { key, body } = said
  const scope = `${key} in the background ${said.call}`
  const made = m.calls.get(scope)
  const isFlying = [...sim.flights.values()].some(({ tag }) => tag === said.tag)
  // Two model servers with one name would be one too many.
  if (isFlying && !(made && made.until > node.now())) return undefined
  let told: { text: string; id: string | undefined } | undefined
  const begun = (status: 'queued' | 'running' = 'running'): string => {
    const { messages, max_output_tokens } = JSON.parse(body) as JsonObject
    const input = inputOf({ messages: must(messages) })
    const hold = { node: node.name, stored: true }
    const wish = { key, input, output: Number(max_output_tokens), fit: false, ...hold }
    const run = node.ids.get('run') ?? ''
    const came = judgeBegin(m, wish, run, node.now())
    if (came !== 'ok') return came
    m.background.set(run, { key, status, letters: null, until: null })
    const until = node.now() + dayMs
    m.calls.set(scope, { until, run, body, answer: told?.text, early: true })
    return told === undefined || told.id === run ? 'ok' : `is ${told.id}, not ${run}`
  }
  return {
    ...aside(node),
    asks: true,
    kind: 'background',
    say: `${said.call} of ${key}: ${body.length}`,
    keys: [key],
    commits: 2,
    async perform() {
      const { text, came, id } = await start(sim, node, said)
      told = { text, id }
      return came
    },
    judge() {
      const refused = refusedAtDoor(sim, key, node.now())
      if (refused) return refused
      const known = m.calls.get(scope)
      if (!known || known.until <= node.now()) return begun()
      if (known.body !== body) return 'idempotency_mismatch'
      known.answer ??= told?.text
      return known.answer === told?.text ? 'replayed' : 'another answer than the first time'
    },
    judgeCut(commits) {
      if (commits > 0) begun(commits > 1 ? 'running' : 'queued')
    },
  }
}

function fresh(sim: Sim, node: Node): Said | undefined {
  const key = pickKey(sim, node.now())
  if (!key) return undefined
  const tag = `behind${++sim.serial}`
  const letters = sim.random.below(80)
  const body = bodyOf(tag, letters, 1 + sim.random.below(120))
  const said = { call: tag, key: key.id, body, tag, door: runsDoor }
  sim.asked.push(said)
  return said
}

/** The same once more, or another one under its name. */
function again({ m, random, asked }: Sim): Said | undefined {
  const one = random.pick(asked.slice(-20))
  if (secretOf(m, one.key) === undefined) return undefined
  return random.below(8) > 0 ? one : { ...one, body: bodyOf(one.tag, 99, 3) }
}

const bodyOf = (tag: string, letters: number, most: number): string =>
  JSON.stringify({
    model: 'sim/chat',
    messages: [{ role: 'user', content: `${tag} ${'x'.repeat(letters)}` }],
    max_output_tokens: most,
    background: true,
  })

/** Asks the door, and from its 202 on the run is one of those in flight. */
async function start(sim: Sim, node: Node, { tag, key, body, call }: Said) {
  const { upstream } = sim.w
  const isThere = [...sim.flights.values()].some((flight) => flight.tag === tag)
  const channel = isThere ? undefined : upstream.expect(tag)
  const headers = { 'content-type': 'application/json', 'idempotency-key': call }
  const { answer, text, type } = await ask(
    sim,
    node,
    '/v1/runs',
    { key },
    { method: 'POST', headers, body },
  )
  const isAgain = answer.headers.get('idempotent-replayed') === 'true'
  const id: string | undefined = answer.ok ? JSON.parse(text).id : undefined
  const live = id === undefined ? undefined : node.deps.live.find(id)
  if (isAgain || !channel || !live) {
    if (channel) upstream.forget(tag)
    return { text, id, came: isAgain ? 'replayed' : type }
  }
  if (answer.status !== 202) return { text, id, came: `answers ${answer.status}` }
  const bound = { input: live.bound.inputTokens, output: live.bound.outputTokens }
  const inputBytes = inputOf({ messages: must((JSON.parse(body) as JsonObject)['messages']) })
  const nothing = { inputBytes, bytes: 0, deltas: 0, failed: 0 }
  const done = endOf(node, live)
  const flight = { id: live.id, tag, node, channel, live, ...bound, ...nothing, done }
  if (!node.line.isCut()) sim.flights.set(live.id, { ...flight, trace: traceOf(node, live.id) })
  await Promise.race([channel.idle(), done])
  return { text, id, came: type }
}

/** What its row says that it came to: no one else is told. */
async function endOf(node: Node, live: Flight['live']): Promise<string> {
  await new Promise<void>((resolve) => {
    live.watch((chunks) => {
      if (chunks === undefined) resolve()
    })
  })
  const row = await node.deps.runs.find(live.id)
  return row?.finishedAt == null ? 'bug' : (row.error?.type ?? 'ok')
}

/** The turn at which its node decided of it last. */
const traceOf = (node: Node, id: string): Trace => ({
  get turn() {
    return node.turns.get(id) ?? -1
  },
  set turn(_) {
    node.turns.delete(id)
  },
  ids: new Map([['run', id]]),
})

/** What the door says of a run in the background: its output only while that is kept. */
export function pollRun(sim: Sim): Command | undefined {
  const { m, random } = sim
  const node = nodeOf(sim)
  const all = [...m.background].filter(([, { key }]) => secretOf(m, key) !== undefined)
  if (all.length === 0) return undefined
  letSecondPass(sim)
  const [id, { key }] = random.pick(all.slice(-40))
  return {
    ...aside(node),
    asks: true,
    kind: 'poll',
    say: id,
    async perform() {
      const { text, type } = await ask(sim, node, `/v1/runs/${id}`, { key })
      if (type !== 'ok') return type
      const { status, cost_nusd, output } = JSON.parse(text)
      return `${status} ${cost_nusd} ${output?.[0].message.content.length ?? 'nothing'}`
    },
    judge: () => refusedAtDoor(sim, key, node.now()) ?? pollOf(m, id),
  }
}

/** How long an account's texts are kept from now on. */
export function setTexts(sim: Sim): Command {
  const { m, random } = sim
  const node = nodeOf(sim)
  const { deps, trace } = actorOf(node)
  const account = random.pick(sim.accounts)
  const retention = random.pick(retentions)
  const judge = (commits: number): string => {
    if (commits === 0) return 'ok'
    const came = judgeRetention(m, account, retention, node.now())
    if (commits > 1 && retention === 'none') dropTexts(m, account)
    // Others know it within a second.
    letSecondPass(sim)
    return came
  }
  return {
    ...aside(node),
    trace,
    kind: 'keep texts',
    say: `${account} ${retention}`,
    perform: () => setRetention(deps, { account, retention, actor: account }).then(() => 'ok'),
    judge: () => judge(2),
    judgeCut: (commits) => void judge(commits),
  }
}

/** A job that forgets what was kept long enough. */
export function drop(sim: Sim): Command {
  const { m, random } = sim
  const node = nodeOf(sim)
  const what = random.pick(['outputs', 'texts', 'calls'] as const)
  const { runs, texts, calls } = node.deps
  const verbs = { outputs: runs.dropOutputs, texts: texts.dropPast, calls: calls.dropPast }
  return {
    ...aside(node),
    kind: `drop ${what}`,
    say: '',
    perform: () => verbs[what](node.now()).then(() => 'ok'),
    judge: () => judgeTidy(m, what, node.now()),
  }
}

/** The texts of some run, as its owner gets them. */
export function readTexts(sim: Sim): Command | undefined {
  const { m, random } = sim
  const node = nodeOf(sim)
  const all = [...m.texts.keys()]
  if (all.length === 0) return undefined
  const run = random.pick(all)
  return {
    ...aside(node),
    kind: 'read texts',
    say: run,
    async perform() {
      const texts = await node.deps.texts.find(run)
      return texts ? 'kept' : 'gone'
    },
    judge: () => (must(m.texts.get(run)).until > node.now() ? 'kept' : 'gone'),
  }
}
