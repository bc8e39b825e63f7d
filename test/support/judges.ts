/** Judges a served ledger as its clients and operators see it. */
import { readFileSync } from 'node:fs'
import type { FullReceipt } from '../../src/verify/receipt.ts'
import { type Home, must, type Server, someAccount } from './binary.ts'
import { type Money, until } from './runs.ts'

/** Notes a fault where something is not true. */
export type Claim = (isTrue: boolean, fault: string) => void

/** Faults, and what adds to them; each may begin with the same words. */
export function claims(about = ''): { faults: string[]; claim: Claim } {
  const faults: string[] = []
  return { faults, claim: (isTrue, fault) => void (isTrue || faults.push(about + fault)) }
}

/** Waits until the account of a key has no hold. @returns its money then. */
export const untilFree = (server: Server, key: string, ms?: number): Promise<Money> =>
  until(
    'no hold',
    async () => {
      const money: Money = await server.get('/v1/balance', key)
      return money.held_nusd === 0 && money
    },
    ms,
  )

/** Counts the runs of an account that the operator exports, and sums their cost in nano-USD. */
export async function spentBy(home: Home): Promise<{ runs: number; spent: number }> {
  const args = ['--account', someAccount, '--format', 'jsonl', '--no-manifest']
  const lines = (await must(home, 'export', 'usage', ...args)).split('\n').filter(Boolean)
  return { runs: lines.length, spent: lines.reduce((sum, line) => sum + costIn(line), 0) }
}

const costIn = (line: string): number => JSON.parse(line).cost_nusd

/** The address of the metrics of the last start. */
export const metricsUrl = ({ printed }: Pick<Home, 'printed'>): string =>
  [...readFileSync(printed.stderr, 'utf8').matchAll(/"url":"(http:\S+?\/metrics)"/g)].at(-1)?.[1] ??
  ''

export type Run = {
  id: string
  status: string
  outcome: string
  cost_nusd: number
  hold_nusd: number
  receipt_id: string | null
  tags: Record<string, string>
}

/** Newest first; down to the run `known`, where one is named. @throws Error if one comes twice. */
export async function allRuns(server: Server, key: string, known = ''): Promise<Map<string, Run>> {
  const runs = new Map<string, Run>()
  type Page = { data: Run[]; has_more: boolean; last_id: string }
  for (let after = ''; ; ) {
    const page: Page = await server.get(`/v1/runs?limit=100${after}`, key)
    for (const run of page.data) {
      if (runs.has(run.id)) throw new Error(`${run.id} is listed twice`)
      runs.set(run.id, run)
    }
    if (!page.has_more || page.last_id <= known) return runs
    after = `&after=${page.last_id}`
  }
}

/** Says what is wrong with the receipt of a run; undefined when it verifies. */
export async function receiptFault(
  server: Server,
  key: string,
  run: Run,
): Promise<string | undefined> {
  const answer = await server.call(`/v1/receipts/${run.receipt_id}`, { key })
  if (answer.status !== 200) return `the receipt of ${run.id}: ${answer.status}`
  const file = (await answer.json()) as { receipt: FullReceipt }
  const { outcome } = file.receipt.run
  const { amount } = file.receipt.charge
  if (outcome !== run.outcome) return `the receipt of ${run.id} says ${outcome}`
  if (amount !== String(run.cost_nusd)) return `the receipt of ${run.id} says ${amount} nUSD`
  return (await verdictOf(server, file)).valid ? undefined : `the receipt of ${run.id} is not valid`
}

type Verdict = { valid: boolean; level: string; checks?: { name: string; status: string }[] }

/** Has a server check the file of a receipt. */
export const verdictOf = async (server: Server, json: object): Promise<Verdict> =>
  (await (await server.call('/v1/receipts/verify', { json })).json()) as Verdict

/** How many of some receipts a server has, and finds valid. */
export async function countValid(server: Server, key: string, ids: string[]): Promise<number> {
  let valid = 0
  for (const id of ids) {
    if ((await verdictOf(server, await server.get(`/v1/receipts/${id}`, key))).valid) valid++
  }
  return valid
}

type Finding = { part: string; status: 'ok' | 'warn' | 'fail'; message: string }

/** The findings of `counterfoil doctor`. */
export async function findingsOf({ cli }: Pick<Home, 'cli'>): Promise<Finding[]> {
  return (JSON.parse((await cli('doctor', '--json')).stdout) as { findings: Finding[] }).findings
}
