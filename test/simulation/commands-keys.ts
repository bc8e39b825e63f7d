import { changeKey } from '../../src/access/keys/change.ts'
import { issueKey } from '../../src/access/keys/issue.ts'
import { pauseKey, resumeKey } from '../../src/access/keys/pause.ts'
import { revokeKey } from '../../src/access/keys/revoke.ts'
import { capWindows } from '../../src/ledger/window.ts'
import { actorOf, type Command, nodeOf, pickKey, type Sim, writerOf } from './command.ts'
import {
  chainIn,
  dayMs,
  judgeChange,
  judgeMint,
  judgePause,
  judgeRevoke,
  type KeyChange,
  type MintWish,
  must,
} from './model.ts'

const actor = 'simulation'

/** A root, or a key below another; its cap, window and expiry are sometimes more than it may have. */
export function mint(sim: Sim, account = sim.random.pick(sim.accounts)): Command {
  const { m, random } = sim
  const node = writerOf(sim)
  const { deps, trace } = actorOf(node)
  const above = random.below(3) > 0 ? pickKey(sim, node.now()) : undefined
  const wish: MintWish = {
    account: above?.account ?? account,
    parent: above?.id,
    cap: capFor(sim, above?.cap),
    window: random.pick(capWindows),
    most: random.below(10) === 0 ? BigInt(1 + random.below(2_000_000)) : null,
    expiresAt: expiryFor(sim, node.now()),
    secret: undefined,
  }
  return {
    kind: 'mint',
    say: `${wish.parent ?? wish.account} cap ${wish.cap} ${wish.window} until ${wish.expiresAt}`,
    node,
    trace,
    isAtomic: true,
    async perform() {
      const { parent, cap, window, most, expiresAt } = wish
      const asked = { account: wish.account, parentId: parent, name: 'sim', actor }
      const limits = { capLimit: cap, capWindow: window, maxCostPerRun: most, expiresAt }
      const made = await issueKey(deps, { ...asked, ...limits })
      wish.secret = made.secret
    },
    judge: () => judgeMint(m, wish, must(trace.ids.get('key')), node.now()),
  }
}

export function change(sim: Sim): Command | undefined {
  const { m, random } = sim
  // No command of the command line lowers a cap: it does not know of holds in memory.
  const node = nodeOf(sim)
  const { deps, trace } = actorOf(node)
  const key = pickKey(sim, node.now())
  if (!key) return undefined
  const change: KeyChange = {}
  if (random.below(3) > 0) change.cap = capFor(sim, random.below(2) === 0 ? key.cap : undefined)
  if (random.below(4) === 0) change.expiresAt = expiryFor(sim, node.now()) ?? node.now() + dayMs
  if (random.below(5) === 0) change.most = random.below(2) === 0 ? null : 900_000n
  const { cap, expiresAt, most } = change
  const asked = {
    ...(cap === undefined ? {} : { capLimit: cap }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(most === undefined ? {} : { maxCostPerRun: most }),
  }
  return {
    kind: 'change',
    say: `${key.id} cap ${cap} until ${expiresAt} most ${most}`,
    node,
    trace,
    isAtomic: true,
    keys: [key.id],
    perform: () => changeKey(deps, { keyId: key.id, actor, change: asked }).then(() => 'ok'),
    judge: () => judgeChange(m, key.id, change, node.now()),
  }
}

export function pause(sim: Sim): Command | undefined {
  const { m, random } = sim
  const node = writerOf(sim)
  const { deps, trace } = actorOf(node)
  const paused = [...m.keys.values()].filter((key) => key.paused && !key.revoked)
  const isPause = paused.length < 3 || random.below(3) === 0
  const key = isPause ? pickKey(sim, node.now()) : random.pick(paused)
  if (!key) return undefined
  const verb = isPause ? pauseKey : resumeKey
  return {
    kind: isPause ? 'pause' : 'resume',
    say: key.id,
    node,
    trace,
    isAtomic: true,
    perform: () => verb(deps, { keyId: key.id, actor }).then(() => 'ok'),
    judge: () => judgePause(m, key.id, isPause),
  }
}

export function revoke(sim: Sim): Command | undefined {
  const node = writerOf(sim)
  const { deps, trace } = actorOf(node)
  const key = pickKey(sim, node.now())
  // Roots live longer, so that there is something to go on with.
  if (!key || (chainIn(sim.m, key.id).length === 1 && sim.random.below(4) > 0)) return undefined
  return {
    kind: 'revoke',
    say: key.id,
    node,
    trace,
    isAtomic: true,
    perform: () => revokeKey(deps, { keyId: key.id, actor }).then(() => 'ok'),
    judge: () => judgeRevoke(sim.m, key.id),
  }
}

/** Often near what a run holds, so that it binds. */
function capFor({ random }: Sim, above: bigint | undefined): bigint {
  const most = above ?? 1_000_000_000n
  const dice = random.below(10)
  if (dice === 0) return most + 1n
  if (dice === 1) return most
  if (dice < 5) return BigInt(1 + random.below(8_000_000))
  return 1n + (most * BigInt(1 + random.below(1000))) / 1001n
}

/** Left out mostly; else soon, in the past, or later than may be. */
function expiryFor({ random }: Sim, now: number): number | undefined {
  const dice = random.below(12)
  if (dice > 3) return undefined
  return now + random.pick([-1, 0, 1, 60_000, dayMs, 30 * dayMs, 366 * dayMs, 366 * dayMs + 1])
}
