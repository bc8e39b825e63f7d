/** Compares what a restarted server holds with what its clients hold. */
import type { Server } from '../test/support/binary.ts'
import {
  allRuns,
  claims,
  findingsOf,
  type Run,
  receiptFault,
  untilFree,
} from '../test/support/judges.ts'
import { credit } from '../test/support/paced-service.ts'
import { type Asked, send } from './asked.ts'
import type { Bench } from './fault-bench.ts'

/** What became of requests at `/v1/runs` that have no whole answer. */
export type Fate = {
  /** There is no such run: its hold was in memory only, or was never taken. */
  gone: number
  /** It ended as `interrupted` and at no charge. */
  interrupted: number
  /** It was charged: its COMMIT came before the kill, its answer did not. */
  stored: number
}

export type Judged = {
  faults: string[]
  /** Before any request was made again. */
  fateOf(asked: readonly Asked[]): Fate
  runs: number
  /** Asked since the last judgement. */
  asked: readonly Asked[]
}

/** Requests that are made again side by side. */
const atOnce = 24

/** The faults that {@link judgeAll} finds. */
export const judge = async (bench: Bench, server: Server): Promise<string[]> =>
  (await judgeAll(bench, server)).faults

/**
 * Whether a server holds what its clients hold: each answer is there and is told again as it was,
 * each request under an Idempotency-Key that had none is made now; no request was charged twice,
 * nothing else was charged, nothing is held, and the newest receipts verify.
 */
export async function judgeAll(bench: Bench, server: Server, receipts = 5): Promise<Judged> {
  const { secret: key } = bench
  const asked = fresh(bench)
  const found = filed(await allRuns(server, key, newest.get(bench)))
  const { faults, claim } = claims()
  const keyed = asked.filter((one) => one.keyed)
  for (let at = 0; at < keyed.length; at += atOnce) {
    const some = keyed.slice(at, at + atOnce).map((one) => askAgain(bench, server, one))
    faults.push(...(await Promise.all(some)).flat())
  }
  await untilFree(server, key).catch(() => faults.push('something stays held'))
  const status = await server.get('/v1/status')
  claim(status.ledger === 'balanced', `the ledger is ${status.ledger}`)
  claim(status.database.status === 'ok', `the database is ${status.database.status}`)
  const runs = filed(await allRuns(server, key))
  faults.push(...runFaults(bench, runs))
  const costs = runs.all.reduce((sum, run) => sum + run.cost_nusd, 0)
  const { balance_nusd: left, held_nusd: held } = await server.get('/v1/balance', key)
  claim(held === 0, `${held} nUSD are held`)
  claim(left === credit - costs, `${left} ≠ ${credit} − ${costs}`)
  const { cap } = await server.get('/v1/keys/self', key)
  claim(cap.spent_nusd === costs, `the key spent ${cap.spent_nusd}, its runs cost ${costs}`)
  claim(cap.held_nusd === 0, `${cap.held_nusd} nUSD of the cap are held`)
  for (const run of runs.all.slice(0, receipts)) {
    const fault = await receiptFault(server, key, run)
    if (fault) faults.push(fault)
  }
  newest.set(bench, runs.all[0]?.id ?? '')
  return {
    faults: [...faults, ...(await doctor(bench))],
    fateOf: (some) => fateIn(found, some),
    asked,
    runs: runs.all.length,
  }
}

function fateIn(runs: Filed, asked: readonly Asked[]): Fate {
  const fate: Fate = { gone: 0, interrupted: 0, stored: 0 }
  for (const one of asked) {
    const own = runs.of(one)
    if (own.length === 0) fate.gone++
    else if (own.some((run) => run.cost_nusd > 0)) fate.stored++
    else fate.interrupted++
  }
  return fate
}

/** Asks once more under the same Idempotency-Key: what is wrong with the answer. */
async function askAgain(bench: Bench, server: Server, asked: Asked): Promise<string[]> {
  const { faults, claim } = claims()
  const again = { ...asked, paid: undefined, accepted: undefined, reason: undefined }
  asked.isReplayed = await send(bench, server, again)
  if (asked.how === 'background') {
    const why = `asked again: ${again.status} ${again.reason ?? ''}`
    claim(again.accepted !== undefined, why)
    // A run that was interrupted left its key free: the same request made another one.
    if (asked.isReplayed) asked.accepted ??= again.accepted
    return faults
  }
  asked.charged = again.paid
  claim(again.paid !== undefined, `asked again: ${again.status} ${again.reason ?? ''}`)
  const { paid } = asked
  if (!paid) return faults
  claim(asked.isReplayed, `${paid.runId} was run again`)
  claim(JSON.stringify(paid) === JSON.stringify(again.paid), `${paid.runId} is another now`)
  return faults
}

type Filed = ReturnType<typeof filed>

/** Runs by the request that they are of, as far as the request is known. */
function filed(runs: Map<string, Run>) {
  const all = [...runs.values()]
  const byReceipt = new Map(all.map((run) => [run.receipt_id, run]))
  const byTag = Map.groupBy(all, ({ tags }) => tags['ask'])
  return {
    all,
    find: (id: string | undefined) => (id === undefined ? undefined : runs.get(id)),
    of({ id, paid, charged, accepted, promised }: Asked): Run[] {
      const named = [paid?.runId, charged?.runId, accepted].map((each) => runs.get(each ?? ''))
      const found = [...named, byReceipt.get(promised ?? ''), ...(byTag.get(id) ?? [])]
      return [...new Set(found.filter((run) => run !== undefined))]
    },
  }
}

/** No request is charged twice, each that was answered once, and nothing else is. */
function runFaults({ asked: all }: Bench, runs: Filed): string[] {
  const { faults, claim } = claims()
  for (const { id, status, cost_nusd, hold_nusd, receipt_id } of runs.all) {
    claim(cost_nusd <= hold_nusd, `${id} cost more than its hold`)
    claim(receipt_id !== null, `${id} is ${status} without a receipt`)
    claim(status !== 'interrupted' || cost_nusd === 0, `${id} is interrupted and was charged`)
  }
  const known = new Set<string>()
  const receipts = new Set<string>()
  let nameless = 0
  for (const asked of all) {
    const { id, paid, charged, accepted } = asked
    const own = runs.of(asked)
    for (const run of own) known.add(run.id)
    const costly = own.filter((run) => run.cost_nusd > 0)
    claim(costly.length <= 1, `request ${id} was charged ${costly.length} times`)
    claim(!accepted || runs.find(accepted) !== undefined, `${accepted} was accepted and is gone`)
    if (asked.status === 0 && !asked.keyed && asked.door === 'chat' && own.length === 0) nameless++
    for (const held of [paid, charged]) {
      const run = runs.find(held?.runId)
      if (!held) continue
      claim(run?.cost_nusd === held.cost, `${held.runId} cost ${held.cost}: ${run?.cost_nusd}`)
      claim(run?.receipt_id === held.receiptId, `${held.runId} has another receipt`)
    }
    if (paid) {
      claim(!receipts.has(paid.receiptId), `${paid.receiptId} was given out twice`)
      receipts.add(paid.receiptId)
    } else if (asked.reason === 'storage_full' && !asked.keyed) {
      claim(costly.length === 0, `request ${id} was refused and charged`)
    }
  }
  const others = runs.all.filter((run) => run.cost_nusd > 0 && !known.has(run.id))
  const told = `${others.length} runs were charged that at most ${nameless} requests can explain`
  claim(others.length <= nameless, told)
  return faults
}

const judged = new WeakMap<Bench, number>()
/** The newest run at the last judgement. */
const newest = new WeakMap<Bench, string>()

/** What was asked since the last judgement. */
function fresh(bench: Bench): Asked[] {
  const from = judged.get(bench) ?? 0
  judged.set(bench, bench.asked.length)
  return bench.asked.slice(from)
}

/** What the operator's own look finds wrong with the files, the database and its money. */
export async function doctor({ home }: Pick<Bench, 'home'>): Promise<string[]> {
  const parts = ['files', 'database', 'ledger', 'clock', 'signer']
  return (await findingsOf(home))
    .filter(({ part, status }) => parts.includes(part) && status === 'fail')
    .map(({ message }) => `doctor: ${message}`)
}
