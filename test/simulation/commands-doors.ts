import type { JsonObject } from '../../src/models/upstream/upstream.ts'
import { receiptIdOf } from '../../src/proof/receipts/receipt.ts'
import { type Door, doors } from '../support/doors.ts'
import { type Command, nodeOf, pickKey, refusalWords, type Said, type Sim } from './command.ts'
import { aside } from './commands-money.ts'
import { chargeOf, inputOf, refusalFor } from './flight.ts'
import {
  accountIn,
  chainIn,
  dayMs,
  judgeBegin,
  judgeSettle,
  type ModelKey,
  must,
  stateOf,
  toldTo,
} from './model.ts'
import { secretOf } from './model-secrets.ts'
import { type Node, origin } from './world.ts'

/**
 * A door remembers who called for a second: what another process changed is known there by then.
 */
export function letSecondPass({ w }: Sim): void {
  w.time.now += 1001
  w.time.mono += 1001
}

/** Asks a node through its door, with a key that it knows. */
export async function ask(
  sim: Sim,
  node: Node,
  path: string,
  { key, secret }: { key: string; secret?: string | undefined },
  init: RequestInit = {},
) {
  const headers = new Headers(init.headers)
  headers.set('authorization', `Bearer ${must(secret ?? secretOf(sim.m, key))}`)
  headers.set('host', new URL(origin).host)
  const answer = await node.handle(new Request(origin + path, { ...init, headers }))
  const text = await answer.text()
  if (answer.ok) return { answer, text, type: 'ok' }
  const { error } = JSON.parse(text)
  // An error of Messages holds ours as its details.
  const { details } = error
  const type = details
    ? refusalWords(String(details.type), details)
    : refusalWords(String(error.type), error.metadata)
  return { answer, text, type }
}

/** A whole answer by one of the doors, with an Idempotency-Key; often one that was used before. */
export function call(sim: Sim): Command | undefined {
  const { m, random, w } = sim
  const node = nodeOf(sim)
  letSecondPass(sim)
  const asked = random.below(5) < 3 && sim.said.length > 0 ? again(sim) : fresh(sim, node)
  if (!asked) return undefined
  const { tag, body, key, door } = asked
  const fails = random.below(6) === 0
  const letters = random.below(80)
  // More tokens than letters would be unseen reasoning, which the model here knows none of.
  const completion_tokens = Math.min(letters, random.below(40))
  const usage = { prompt_tokens: 1 + random.below(50), completion_tokens }
  let told: { text: string; replayed: boolean } | undefined
  const post = {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': asked.call },
    body,
  }
  const begun = () => {
    const wished = JSON.parse(body) as JsonObject
    const messages = wished['messages'] ?? wished['input'] ?? null
    const max_tokens = must(wished[door.limit])
    const input = inputOf({ messages })
    const hold = { node: node.name, stored: !isAlone }
    const wish = { key, input, output: Number(max_tokens), fit: false, ...hold }
    const id = node.ids.get('run') ?? ''
    return { came: judgeBegin(m, wish, id, node.now()), id, wish }
  }
  const isAlone = node.db.exclusive
  const scope = `${key} ${asked.call}`
  const noted = (run: string, answer?: string) =>
    m.calls.set(scope, { until: node.now() + dayMs, run, body, answer, early: false })
  const paid = (): string => {
    const { came, id, wish } = begun()
    if (came !== 'ok') return came
    const ended = { now: node.now(), byItself: true }
    if (fails) {
      judgeSettle(m, id, 0n, { ...ended, status: 'failed', letters: null })
      // Of a call that was in memory alone no row is left; an expired one may be there from before.
      if (!isAlone) m.calls.delete(scope)
      return refusalFor('timeout')
    }
    const said = { bytes: letters, deltas: letters > 0 ? 1 : 0, inputBytes: wish.input }
    const cost = chargeOf({ ...wish, ...said }, must(m.open.get(id)), usage)
    judgeSettle(m, id, cost, { ...ended, status: 'succeeded', letters })
    noted(id, told?.text)
    return 'ok'
  }
  return {
    ...aside(node),
    asks: true,
    kind: 'call',
    say: `${asked.call} of ${key} at ${door.name} ${fails ? 'fails' : `says ${letters} letters`}: ${body.length}`,
    keys: [key],
    // A process that writes alone has its holds in memory.
    commits: isAlone ? 1 : 2,
    async perform() {
      const channel = w.upstream.expect(tag)
      const whole = wholeOf(letters, usage)
      channel.push(fails ? { fail: 'timeout' } : { say: [whole] })
      channel.push({ fail: 'timeout' })
      const { answer, text, type } = await ask(sim, node, door.path, { key }, post)
      w.upstream.forget(tag)
      const replayed = answer.headers.get('idempotent-replayed') === 'true'
      told = { text, replayed }
      return replayed ? 'replayed' : type
    },
    judge() {
      const refused = refusedAtDoor(sim, key, node.now())
      if (refused) return refused
      const known = m.calls.get(scope)
      if (!known || known.until <= node.now()) return paid()
      if (known.body !== body) return 'idempotency_mismatch'
      if (m.open.has(known.run)) return 'idempotency_in_progress'
      known.answer ??= told?.text
      return known.answer === told?.text ? 'replayed' : 'another answer than the first time'
    },
    /** Killed after the COMMIT of its hold it holds, and after that of its end it is answered. */
    judgeCut(commits) {
      if (commits === (isAlone ? 1 : 2)) paid()
      if (isAlone || commits !== 1) return
      const { came, id } = begun()
      if (came === 'ok') noted(id)
    },
  }
}

function fresh(sim: Sim, node: Node): Said | undefined {
  const key = pickKey(sim, node.now())
  if (!key) return undefined
  const tag = `call${++sim.serial}`
  const door = sim.random.pick(doors)
  const body = bodyAt(door, tag, sim.random.below(80), 1 + sim.random.below(120))
  const said = { call: tag, key: key.id, body, tag, door }
  sim.said.push(said)
  return said
}

const bodyAt = (door: Door, tag: string, letters: number, most: number): string => {
  const text = `${tag} ${'x'.repeat(letters)}`
  return JSON.stringify(door.body({ model: 'sim/chat', text, most }))
}

/** The same once more, or another one under its name. */
function again({ m, random, said }: Sim): Said | undefined {
  const one = random.pick(said.slice(-30))
  if (secretOf(m, one.key) === undefined) return undefined
  if (random.below(8) > 0) return one
  return { ...one, body: bodyAt(one.door, one.tag, 99, 3) }
}

const wholeOf = (letters: number, usage: JsonObject): JsonObject => {
  const message = { role: 'assistant', content: 'w'.repeat(letters) }
  return { choices: [{ index: 0, message, finish_reason: 'stop' }], usage }
}

export function refusedAtDoor({ m }: Sim, id: string, now: number): string | undefined {
  const dead = stateOf(chainIn(m, id), now)
  if (dead) return dead
  return accountIn(m, must(m.keys.get(id)).account).suspended ? 'account_suspended' : undefined
}

/** What the door says of a balance. */
export function askBalance(sim: Sim): Command | undefined {
  letSecondPass(sim)
  const node = nodeOf(sim)
  const key: ModelKey | undefined = pickKey(sim, node.now())
  if (!key) return undefined
  return {
    ...aside(node),
    asks: true,
    kind: 'balance',
    say: key.id,
    async perform() {
      const { text, type } = await ask(sim, node, '/v1/balance', { key: key.id })
      if (type !== 'ok') return type
      const { balance_nusd, held_nusd } = JSON.parse(text)
      return `${balance_nusd} ${held_nusd}`
    },
    judge() {
      const dead = refusedAtDoor(sim, key.id, node.now())
      return dead ?? toldTo(sim.m, key.id, node.now())
    },
  }
}

/** Some receipt as its owner gets it, its proof, and what the service says of both. */
export function prove(sim: Sim): Command | undefined {
  const { m, random } = sim
  letSecondPass(sim)
  const node = nodeOf(sim)
  const ended = [...m.ended.keys()]
  if (ended.length === 0) return undefined
  const run = random.pick(ended)
  return {
    ...aside(node),
    asks: true,
    kind: 'prove',
    say: run,
    async perform() {
      const row = await node.deps.runs.find(run)
      const key = m.keys.get(row?.keyId ?? '')
      const isSeen =
        key && secretOf(m, key.id) !== undefined && !refusedAtDoor(sim, key.id, node.now())
      if (!row || row.logPlace === null || !isSeen) return 'passes'
      const path = `/v1/receipts/${receiptIdOf(run)}`
      const file = await ask(sim, node, path, { key: key.id })
      const proof = await ask(sim, node, `${path}/proof`, { key: key.id })
      const both = `{"receipt":${file.text},"proof":${proof.text},"options":{"chain":"skip"}}`
      const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: both }
      const { text } = await ask(sim, node, '/v1/receipts/verify', { key: key.id }, post)
      const checks: { name: string; status: string }[] = JSON.parse(text).checks ?? []
      const failed = checks.filter(({ status }) => status === 'fail').map(({ name }) => name)
      const isIn = checks.some(({ name, status }) => name === 'inclusion' && status === 'pass')
      return failed.length === 0 && isIn ? 'passes' : `${failed} ${text.slice(0, 200)}`
    },
    judge: () => 'passes',
  }
}
