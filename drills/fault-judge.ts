import type { Server } from '../test/support/binary.ts'
import { allRuns, receiptFault } from './check.ts'
import { type Asked, type Bench, credit, send } from './fault-bench.ts'

/**
 * Whether a server holds what its clients hold: each answer is there and is told again as it was,
 * each request that had none is made now, and every key was charged exactly once.
 */
export async function judge(bench: Bench, server: Server): Promise<string[]> {
  const faults: string[] = []
  const claim = (isTrue: boolean, fault: string): void => void (isTrue || faults.push(fault))
  const { secret: key } = bench
  const get = async <T>(path: string) => (await (await server.call(path, { key })).json()) as T
  for (const asked of fresh(bench)) {
    const again = { ...asked }
    asked.isReplayed = await send(bench, server, again)
    asked.charged = again.paid
    claim(again.paid !== undefined, `asked again: ${again.status} ${again.reason ?? ''}`)
    const { paid } = asked
    if (!paid) continue
    claim(asked.isReplayed, `${paid.runId} was run anew`)
    claim(JSON.stringify(paid) === JSON.stringify(again.paid), `${paid.runId} is another now`)
  }
  const status = await get<{ ledger: string; database: { status: string } }>('/v1/status')
  claim(status.ledger === 'balanced', `the ledger is ${status.ledger}`)
  claim(status.database.status === 'ok', `the database is ${status.database.status}`)
  const runs = await allRuns(server, key)
  const charged = [...runs.values()].filter((run) => run.cost_nusd > 0)
  const keys = bench.asked.length
  claim(charged.length === keys, `${charged.length} runs were charged for ${keys} requests`)
  const costs = charged.reduce((sum, run) => sum + run.cost_nusd, 0)
  const money = await get<{ balance_nusd: number; held_nusd: number }>('/v1/balance')
  claim(money.held_nusd === 0, `${money.held_nusd} nUSD are held`)
  claim(money.balance_nusd === credit - costs, `${money.balance_nusd} ≠ ${credit} − ${costs}`)
  for (const { charged: one } of bench.asked) {
    const run = runs.get(one?.runId ?? '')
    claim(run?.cost_nusd === one?.cost, `${one?.runId} cost ${one?.cost}: ${run?.cost_nusd}`)
    claim(run?.receipt_id === one?.receiptId, `${one?.runId} has another receipt`)
  }
  for (const run of [...runs.values()].slice(0, 5)) {
    const fault = await receiptFault(server, key, run)
    if (fault) faults.push(fault)
  }
  return [...faults, ...(await doctor(bench))]
}

const judged = new WeakMap<Bench, number>()

/** What was asked since the last judgement. */
function fresh(bench: Bench): Asked[] {
  const from = judged.get(bench) ?? 0
  judged.set(bench, bench.asked.length)
  return bench.asked.slice(from)
}

/** What the operator's own look finds wrong with the files, the database and its money. */
async function doctor({ home }: Pick<Bench, 'home'>): Promise<string[]> {
  const { stdout } = await home.cli('doctor', '--json')
  const { findings } = JSON.parse(stdout) as { findings: Record<string, string>[] }
  const parts = ['files', 'database', 'ledger', 'clock', 'signer']
  return findings
    .filter(({ part, status }) => parts.includes(part ?? '') && status === 'fail')
    .map(({ message }) => `doctor: ${message}`)
}
