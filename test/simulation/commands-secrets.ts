import { rotateKey } from '../../src/access/keys/rotate.ts'
import { fingerprintOf, hashSecret } from '../../src/access/keys/secret.ts'
import { actorOf, type Command, cameOf, pickKey, type Sim, writerOf } from './command.ts'
import { ask, letSecondPass, refusedAtDoor } from './commands-doors.ts'
import { aside } from './commands-money.ts'
import { must, toldTo } from './model.ts'
import { judgeRotate } from './model-secrets.ts'

const actor = 'simulation'

/** Another secret for a key; the one before works on for a while, or ends at once. */
export function rotate(sim: Sim): Command | undefined {
  const { m, random } = sim
  const node = writerOf(sim)
  const { deps, trace } = actorOf(node)
  const key = pickKey(sim, node.now())
  if (!key) return undefined
  const overlapSeconds = random.pick([60, 60, 3600, 604_800, 0, 604_801])
  const secrets = key.secrets.flatMap(({ secret }) => secret ?? [])
  const from = random.below(4) === 0 ? random.pick(secrets) : undefined
  const wish = { overlapMs: overlapSeconds * 1000, from, secret: undefined as string | undefined }
  const isSoft = overlapSeconds > 0 && from === undefined
  return {
    kind: 'rotate',
    say: `${key.id} overlaps ${overlapSeconds} s${from ? ` from ${printOf(from)}` : ''}`,
    node,
    trace,
    // Who acts at once with the secret that ends now is let in or not.
    isAtomic: isSoft,
    async perform() {
      const before = from === undefined ? {} : { from: printOf(from) }
      const made = await rotateKey(deps, { keyId: key.id, actor, overlapSeconds, ...before })
      wish.secret = made.secret
    },
    judge: () => judgeRotate(m, key.id, wish, node.now()),
  }
}

/** Twice at once from the same secret: one of them gets another. */
export function rotateTwice(sim: Sim): Command | undefined {
  const { m } = sim
  const node = writerOf(sim)
  const key = pickKey(sim, node.now())
  const from = key?.secrets.at(-1)?.secret
  if (!key || from === undefined) return undefined
  const overlapMs = 60_000
  const nodes = [node, sim.random.pick(sim.nodes)]
  const actors = nodes.map(actorOf)
  const made: (string | undefined)[] = []
  return {
    ...aside(node),
    kind: 'rotate twice',
    say: `${key.id} from ${printOf(from)}`,
    async perform() {
      const wish = { keyId: key.id, actor, overlapSeconds: overlapMs / 1000, from: printOf(from) }
      const twice = actors.map(({ deps }, i) =>
        rotateKey(deps, wish).then(({ secret }) => {
          made[i] = secret
        }),
      )
      return (await Promise.all(twice.map(cameOf))).sort().join()
    },
    judge() {
      const first = Math.max(
        0,
        made.findIndex((secret) => secret !== undefined),
      )
      const now = must(nodes[first]).now()
      const came = judgeRotate(m, key.id, { overlapMs, from, secret: made[first] }, now)
      return [came, 'conflict'].sort().join()
    },
  }
}

/** Someone asks with a secret that was rotated: it works as long as the overlap lasts. */
export function useOld(sim: Sim): Command | undefined {
  const { m, random } = sim
  const node = random.pick(sim.nodes)
  const rotated = [...m.keys.values()].filter(({ secrets }) => secrets.length > 1)
  if (rotated.length === 0) return undefined
  letSecondPass(sim)
  const key = random.pick(rotated.slice(-30))
  const known = key.secrets.slice(-4).filter(({ secret }) => secret !== undefined)
  if (known.length === 0) return undefined
  const one = random.pick(known)
  return {
    ...aside(node),
    asks: true,
    kind: 'use secret',
    say: `${key.id} ${printOf(must(one.secret))} until ${one.until}`,
    async perform() {
      const { text, type } = await ask(sim, node, '/v1/balance', { key: key.id, ...one })
      if (type !== 'ok') return type
      return `${JSON.parse(text).balance_nusd} ${JSON.parse(text).held_nusd}`
    },
    judge() {
      if (one.until !== null && one.until <= node.now()) return 'invalid_key'
      return refusedAtDoor(sim, key.id, node.now()) ?? toldTo(m, key.id, node.now())
    },
  }
}

const printOf = (secret: string): string => fingerprintOf(hashSecret(secret))
