import { describe, expect, test } from 'bun:test'
import { systemRandom } from '../../src/kernel/random.ts'
import { Refusal } from '../../src/kernel/refusal.ts'
import type { Ledger } from '../../src/ledger/post.ts'
import { capWindows } from '../../src/ledger/window.ts'
import type { KeyRow, RunRow } from '../../src/storage/db/schema/schema.ts'
import { nightly } from '../support/nightly.ts'
import { promise } from '../support/promise.ts'
import { engines } from '../support/world.ts'
import {
  judgeEnd,
  judgeGrant,
  judgeHold,
  judgeMint,
  type Model,
  newModel,
  purses,
} from './model.ts'
import { faultsOf, newAccount, type Office, openOffice, pictureOf } from './office.ts'
import { type Prng, prng } from './prng.ts'

/**
 * Random commands in random concurrent batches, against a model that knows no batches, no cache
 * and no database. `LEDGER_SEED` replays a run, `LEDGER_STEPS` makes it longer.
 */
const chosen = process.env['LEDGER_SEED']
const seed = chosen ? Number(chosen) : new DataView(systemRandom().bytes(4).buffer).getUint32(0)
const stepsOf = { sqlite: nightly(250, 2500), pglite: 60, postgres: nightly(100, 1000) }
const dayMs = 86_400_000

describe.each(engines)('a ledger on %s', (engine) => {
  promise`A10 C: The holds and spending of a key tree stay within every cap above it.`
  promise`D1 C: Every transfer has two ends, nothing is lost, and a balance is the sum of its
    entries.`
  promise`D7`
  test(
    'does what a ten-line model does, and conserves money after every step',
    async () => {
      const steps = Number(process.env['LEDGER_STEPS'] ?? stepsOf[engine])
      console.log(`ledger simulation on ${engine}: LEDGER_SEED=${seed} LEDGER_STEPS=${steps}`)
      const office = await openOffice(engine)
      try {
        const seen = await simulate(office, office.clock, steps)
        // A simulation that never got anywhere would prove nothing.
        for (const kind of ['mint', 'hold', 'end', 'grant', 'cap_exceeded']) {
          expect({ kind, seen: (seen.get(kind) ?? 0) > 0 }).toEqual({ kind, seen: true })
        }
      } finally {
        await office.close()
      }
    },
    nightly(120_000, 900_000),
  )
})

/** A command, what the model says of it, and what it leaves for later steps. */
type Op = {
  kind: string
  go(ledger: Ledger): Promise<unknown>
  judge(m: Model): string
  keep?(): void
}
type State = { office: Office; m: Model; keys: KeyRow[]; runs: RunRow[]; random: Prng }

async function simulate(office: Office, clock: { set(at: number): void }, steps: number) {
  const state: State = {
    office,
    m: newModel(office.clock.now()),
    keys: [],
    runs: [],
    random: prng(seed),
  }
  const { m, random } = state
  const accounts = [newAccount(), newAccount()]
  const seen = new Map<string, number>()
  for (const account of accounts) {
    await office.grant(account, 4000n)
    judgeGrant(m, account, 4000n)
  }
  for (let step = 0; step < steps; step++) {
    if (random.below(6) === 0) {
      m.now += jump(m.now, random)
      clock.set(m.now)
    }
    for (const account of accounts) await renewRoot(state, account)
    const ops = Array.from({ length: 1 + random.below(12) }, () => randomOp(state))
    for (const { op, came, turn } of await runTogether(office.ledger, ops)) {
      const verdict = turn < 0 ? came : op.judge(m)
      const where = `seed ${seed}, step ${step}, ${op.kind}`
      expect({ where, came }).toEqual({ where, came: verdict })
      seen.set(verdict, (seen.get(verdict) ?? 0) + 1)
    }
    for (const op of ops) op.keep?.()
    await compare(office, m, accounts, `seed ${seed}, step ${step}`)
  }
  return seen
}

/** Submits all at once, and tells in which order the ledger decided what each came to. */
async function runTogether(ledger: Ledger, ops: Op[]) {
  let turns = 0
  const placed = ops.map(async (op) => {
    let turn = -1
    const traced: Ledger = {
      post: (command) =>
        ledger.post({
          ...command,
          decide(unit) {
            // The last time counts: a batch may be decided again.
            turn = turns++
            return command.decide(unit)
          },
        }),
    }
    try {
      await op.go(traced)
      return { op, came: op.kind, turn }
    } catch (error) {
      return { op, came: error instanceof Refusal ? error.type : 'bug', turn }
    }
  })
  return (await Promise.all(placed)).sort((a, b) => a.turn - b.turn)
}

/** The database says what the model says, to the last nano-USD, and breaks no rule of its own. */
async function compare(office: Office, m: Model, accounts: string[], where: string) {
  const picture = await pictureOf(office.db)
  expect({ where, faults: faultsOf(picture) }).toEqual({ where, faults: [] })
  for (const id of accounts) {
    const row = picture.accounts.find((account) => account.id === id)
    const { balance, held } = { balance: m.balance.get(id), held: m.held.get(id) ?? 0n }
    expect({ where, id, balance: row?.balance, held: row?.held }).toEqual({
      where,
      id,
      balance,
      held,
    })
  }
  for (const { keyId, windowStart: start, spent, held } of picture.windows) {
    const id = `${keyId}:${start}`
    const expected = { id, spent: m.spent.get(id) ?? 0n, held: m.held.get(id) ?? 0n }
    expect({ where, id, spent, held }).toEqual({ where, ...expected })
  }
  const open = picture.runs.filter((run) => run.finishedAt === null).map(({ id }) => id)
  expect({ where, open: open.sort() }).toEqual({ where, open: [...m.open.keys()].sort() })
}

/** A root that is spendable again where the one before expired or is about to. */
async function renewRoot({ office, m, keys, random }: State, account: string): Promise<void> {
  const good = (key: KeyRow) => key.accountId === account && key.expiresAt > m.now + dayMs
  if (keys.some((key) => key.parentId === null && good(key) && !m.revoked.has(key.id))) return
  const cap = { capLimit: 5000n, capWindow: random.pick(capWindows) }
  keys.push(await office.key({ account, ...cap }))
}

function randomOp(state: State): Op {
  const { random, keys, runs } = state
  const key = random.pick(keys.slice(-24))
  const chain = key.lineage.flatMap((id) => keys.filter((other) => other.id === id))
  const dice = random.below(100)
  if (dice < 45) return randomHold(state, key, chain)
  if (dice < 80 && runs.length > 0) return randomEnd(state)
  if (dice < 88) return randomMint(state, key, chain)
  if (dice < 91) {
    const judge = (m: Model) => {
      m.revoked.add(key.id)
      return 'revoke'
    }
    return { kind: 'revoke', go: (ledger) => state.office.revoke(key, ledger), judge }
  }
  const amount = BigInt(1 + random.below(400))
  return {
    kind: 'grant',
    go: (ledger) => state.office.grant(key.accountId, amount, ledger),
    judge: (m) => judgeGrant(m, key.accountId, amount),
  }
}

function randomHold({ office, random, runs }: State, key: KeyRow, chain: KeyRow[]): Op {
  const amount = BigInt(random.below(random.below(5) === 0 ? 3000 : 120))
  let made: RunRow | undefined
  return {
    kind: 'hold',
    async go(ledger) {
      made = await office.hold(key, amount, ledger)
    },
    judge(m) {
      const verdict = judgeHold(m, chain, key.accountId, amount)
      if (verdict === 'hold' && made) {
        m.open.set(made.id, { hold: amount, purses: purses(m, chain, key.accountId) })
      }
      return verdict
    },
    keep: () => void (made && runs.push(made)),
  }
}

/** Sometimes of a run that has ended, or ends in this very batch: that must be refused. */
function randomEnd({ office, random, runs }: State): Op {
  const run = random.pick(random.below(10) === 0 ? runs : runs.slice(-20))
  const cost = random.below(3) === 0 ? 0n : (run.hold * BigInt(random.below(101))) / 100n
  return {
    kind: 'end',
    go: (ledger) => office.end(run, cost, ledger),
    judge: (m) => judgeEnd(m, run.id, cost),
  }
}

function randomMint({ office, random, keys }: State, key: KeyRow, chain: KeyRow[]): Op {
  const wish = { capLimit: BigInt(1 + random.below(1500)), capWindow: random.pick(capWindows) }
  let made: KeyRow | undefined
  return {
    kind: 'mint',
    async go(ledger) {
      made = await office.key({ account: key.accountId, parentId: key.id, ...wish }, ledger)
    },
    judge: (m) => judgeMint(m, chain, wish.capLimit),
    keep: () => void (made && keys.push(made)),
  }
}

/** To just before, onto or just after the next day, week or month; or some hours on. */
function jump(now: number, random: Prng): number {
  const toMidnight = dayMs - (now % dayMs)
  const date = new Date(now)
  const toMonth = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1) - now
  const edges = [toMidnight, toMidnight + dayMs * random.below(7), toMonth, 3_600_000]
  return Math.max(1, random.pick(edges) + random.below(3) - 1)
}
