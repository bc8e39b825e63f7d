import { eq } from 'drizzle-orm'
import { assignDeposit } from '../../src/billing/deposits/claim.ts'
import { cancelPlan } from '../../src/billing/plans/cancel.ts'
import { resumePlan } from '../../src/billing/plans/resume.ts'
import { subscribe } from '../../src/billing/plans/subscribe.ts'
import { resumeAccount, suspendAccount } from '../../src/front/admin/suspend.ts'
import { grantCredit } from '../../src/ledger/grant.ts'
import { first } from '../../src/storage/db/sql/query-steps.ts'
import type { SimTx } from './chain.ts'
import { actorOf, type Command, nodeOf, type Sim, writerOf } from './command.ts'
import { judgeBroken } from './commands-runs.ts'
import type { Flight } from './flight.ts'
import { accountIn, must } from './model.ts'
import { judgeAssign, judgeLook, unit } from './model-deposits.ts'
import { judgeCancel, judgeRenewal, judgeResume, judgeSubscribe, offers } from './model-plans.ts'
import { judgeGrant, judgeSuspend } from './model-selling.ts'
import type { Node } from './world.ts'

const told = { reason: 'simulation', actor: 'simulation' }

export function grant(sim: Sim, account = sim.random.pick(sim.accounts)): Command {
  const node = writerOf(sim)
  const { deps, trace } = actorOf(node)
  // One of them stays poor, so that its balance binds.
  const amount = BigInt(1 + sim.random.below(isPoor(sim, account) ? 1_000_000 : 6_000_000))
  return {
    kind: 'grant',
    say: `${account} ${amount}`,
    node,
    trace,
    isAtomic: true,
    perform: () => grantCredit(deps, { account, amount, ...told }).then(() => 'ok'),
    judge: () => judgeGrant(sim.m, account, amount),
  }
}

const isPoor = ({ accounts }: Sim, account: string): boolean => account === accounts.at(-1)

/** A suspended account takes no hold, and what it runs on this node is stopped. */
export function suspend(sim: Sim): Command {
  const { m, random } = sim
  const node = nodeOf(sim)
  const { deps, trace } = actorOf(node)
  const off = sim.accounts.filter((one) => accountIn(m, one).suspended)
  const account = random.pick(off.length > 0 && random.below(6) > 0 ? off : sim.accounts)
  const isOff = accountIn(m, account).suspended || random.below(3) > 0
  const verb = isOff ? resumeAccount : suspendAccount
  let stopped: Flight[] = []
  return {
    kind: isOff ? 'resume account' : 'suspend account',
    say: account,
    node,
    trace,
    isAtomic: false,
    async perform() {
      const isStopped = ({ node: on, live }: Flight) =>
        on === node && live.row.accountId === account
      stopped = isOff ? [] : [...sim.flights.values()].filter(isStopped)
      for (const { id } of stopped) sim.flights.delete(id)
      await verb(deps, { account, ...told })
      const came = await Promise.all(stopped.map(({ done }) => done))
      return ['ok', ...came].join()
    },
    judge() {
      const all = [judgeSuspend(m, account, !isOff)]
      for (const flight of stopped) all.push(judgeBroken(sim, flight, 'account_suspended'))
      return all.join()
    },
  }
}

export function buyPlan(sim: Sim): Command {
  const { m, random } = sim
  const node = nodeOf(sim)
  const { deps, trace } = actorOf(node)
  const account = random.pick(sim.accounts)
  const id = random.pick(Object.keys(offers))
  return {
    kind: 'subscribe',
    say: `${account} ${id}`,
    node,
    trace,
    isAtomic: true,
    perform: () => subscribe(deps, { account, plan: must(deps.plans.find(id)) }).then(() => 'ok'),
    judge: () => judgeSubscribe(accountIn(m, account), id, node.now()),
  }
}

export function endPlan(sim: Sim): Command {
  const { m, random } = sim
  const node = nodeOf(sim)
  const { deps, trace } = actorOf(node)
  const account = random.pick(sim.accounts)
  const isEnd = random.below(2) === 0
  return {
    kind: isEnd ? 'cancel plan' : 'resume plan',
    say: account,
    node,
    trace,
    isAtomic: true,
    perform: () => (isEnd ? cancelPlan : resumePlan)(deps, account).then(() => 'ok'),
    judge: () => (isEnd ? judgeCancel : judgeResume)(accountIn(m, account), node.now()),
  }
}

/** The job that renews what is due; nothing where another node has the right to. */
export function renewPlans(sim: Sim): Command {
  const node = nodeOf(sim)
  let mayAct = true
  return {
    ...aside(node),
    kind: 'renew plans',
    say: '',
    async perform() {
      mayAct = await hasLease(node, 'plans')
      await node.renew()
    },
    judge() {
      if (mayAct) for (const payer of sim.m.accounts.values()) judgeRenewal(payer, node.now())
      return 'ok'
    },
  }
}

/** Something happens on the chain, which no one looks at yet. */
export function moveChain(sim: Sim): Command {
  const { random, w } = sim
  const { chain } = w
  const node = nodeOf(sim)
  const dice = random.below(10)
  const free = aside(node)
  if (dice < 4) {
    const from = random.pick(sim.accounts.filter((one) => !isPoor(sim, one)))
    const units = BigInt(1 + random.below(random.pick([20_000, 100_000, 300_000, 1_200_000])))
    chain.pay(from, units)
    return { ...free, kind: 'pay', say: `${from} ${units * unit}`, ...idle }
  }
  const lost = chain.txs.filter(({ block }) => block === null)
  if (dice < 6 && lost.length > 0) {
    const back = random.pick(lost)
    chain.include(back)
    return { ...free, kind: 'pay again', say: back.hash, ...idle }
  }
  if (dice < 8) {
    const blocks = 1 + random.below(random.pick([10, 40, 150]))
    chain.mine(blocks)
    return { ...free, kind: 'mine', say: `${blocks} blocks`, ...idle }
  }
  const from = chain.finalized() + 1 + random.below(chain.latest() - chain.finalized())
  const inIt = chain.txs.filter(({ block }) => block !== null && block >= from)
  const isCredited = ({ hash }: SimTx) => sim.m.deposits.get(hash)?.status === 'credited'
  // Of two that are taken away at once it is open which loses what was spent.
  const isQuiet = !lost.some(isCredited)
  const some = inIt.some(isCredited) && random.below(4) > 0 ? inIt.filter(isCredited) : inIt
  const drop = isQuiet && random.below(3) > 0 && some.length > 0 ? random.pick(some) : undefined
  chain.reorg(from, drop)
  return { ...free, kind: 'reorg', say: `from ${from}, without ${drop?.hash}`, ...idle }
}

/** The watcher looks at the chain; sometimes that breaks off, and sometimes it looks far back. */
export function look(sim: Sim): Command {
  const { random, w, m } = sim
  const node = nodeOf(sim)
  const breaks = random.below(5) === 0 ? random.below(9) : undefined
  const again = random.below(6) === 0
  let mayAct = true
  return {
    ...aside(node),
    kind: again ? 'rescan' : 'look',
    say: breaks === undefined ? '' : `breaks off after ${breaks} answers`,
    async perform() {
      mayAct = await hasLease(node, 'deposits')
      if (again) await node.deps.deposits.wantRescan(w.chain.finalized() - random.below(500))
      if (breaks !== undefined) {
        w.chain.failAfter(breaks)
        await node.look()
        w.chain.calm()
        // After a trouble it rests.
        w.time.mono += 40_000
      }
      // What one look credits, the next one finds final.
      await node.look()
      await node.look()
    },
    judge() {
      for (const _ of mayAct ? [1, 2] : []) judgeLook(m, w.chain)
      return 'ok'
    },
  }
}

/** The operator gives a deposit that came from the wrong wallet to whose it is. */
export function assign(sim: Sim): Command | undefined {
  const { m, random } = sim
  const known = [...m.deposits.values()].filter(({ status }) => status !== 'ignored')
  if (known.length === 0) return undefined
  const { tx } = random.pick(known.slice(-6))
  const account = random.pick(sim.accounts)
  // What takes money goes through the server, which alone knows the holds in memory.
  const node = nodeOf(sim)
  const { deps, trace } = actorOf(node)
  return {
    kind: 'assign',
    say: `${tx} to ${account}`,
    node,
    trace,
    isAtomic: true,
    async perform() {
      const id = await depositOf(node, tx)
      await assignDeposit(deps, { id, account, ...told })
    },
    judge: () => judgeAssign(m, tx, account),
  }
}

/** Whether a job may do what only one process does at a time. */
export async function hasLease({ db, name, now }: Node, lease: string): Promise<boolean> {
  const { leases } = db.tables
  const row = await db.read((q) => first(q.select().from(leases).where(eq(leases.name, lease))))
  return db.exclusive || !row || row.holder === name || row.expiresAt <= now()
}

export async function depositOf({ db }: Node, tx: SimTx['hash'] | string): Promise<string> {
  const { deposits } = db.tables
  const row = await db.read((q) => first(q.select().from(deposits).where(eq(deposits.txHash, tx))))
  return row?.id ?? 'dep_none'
}

/** What no model knows of. */
const idle: Pick<Command, 'perform' | 'judge'> = {
  perform: () => Promise.resolve('ok'),
  judge: () => 'ok',
}

/** A command that is not a single change of the ledger. */
export const aside = (node: Node): Pick<Command, 'node' | 'trace' | 'isAtomic'> => ({
  node,
  trace: { turn: -1, ids: new Map() },
  isAtomic: false,
})
