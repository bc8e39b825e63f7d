/** Judges the liabilities statements that killed processes left, against every grant. */
import type { Service } from '../src/app/wiring.ts'
import { toHex } from '../src/kernel/hex.ts'
import { auditStore } from '../src/ledger/store/audit.ts'
import { fileOf, ownFile } from '../src/proof/liabilities/liabilities.ts'
import type { Db } from '../src/storage/db/engine/db.ts'
import type { LiabilitiesRow } from '../src/storage/db/schema/schema.ts'
import { rows } from '../src/storage/db/sql/query-steps.ts'
import { checkLiabilities, type LiabilitiesFile } from '../src/verify/liabilities.ts'
import { leafKinds } from '../src/verify/merkle.ts'

/** An account by a number, from 0. */
export const accountOf = (n: number): string => `0x${(n + 1).toString(16).padStart(40, '0')}`

/** What the n-th grant is of: sums of the first n of them never repeat. */
export const amountOf = (n: number): bigint => 1_000_000_007n + 13n * BigInt(n)

type JudgedDay = {
  day: number
  accounts: number
  /** All grants that there are. */
  to: number
}

/** The faults of a service on a day: exactly one statement a day, each right to the nano-dollar. */
export async function judgeLiabilities(
  { deps, db }: { deps: Service; db: Db },
  { day, accounts, to }: JudgedDay,
): Promise<string[]> {
  const faults = (await auditStore(db).whole(deps.clock.now())).map((fault) => `audit: ${fault}`)
  const statements = await allStatements(deps)
  const numbers = statements.map(({ number }) => number)
  if (numbers.join() !== Array.from({ length: day }, (_, i) => day - i).join()) {
    faults.push(`on day ${day} there are the statements ${numbers.slice(0, 5).join()}`)
  }
  const days = new Set(statements.map(({ asOf }) => Math.floor(asOf / 86_400_000)))
  if (days.size !== statements.length) faults.push('two statements are of one day')
  faults.push(...(await leafFaults(deps, statements)), ...(await draftFaults(db, statements)))
  const [newest] = statements
  if (newest) faults.push(...(await newestFaults(deps, newest, { accounts, to })))
  for (const [i, row] of statements.entries()) {
    const previous = statements[i + 1]?.digest ?? `0x${'00'.repeat(32)}`
    if (row.statement.previous !== previous) faults.push(`statement ${row.number} skips one`)
  }
  return faults
}

async function allStatements({ liabilities }: Service): Promise<LiabilitiesRow[]> {
  const statements: LiabilitiesRow[] = []
  for (let below: number | undefined; ; below = statements.at(-1)?.number) {
    const page = await liabilities.list({ limit: 100, below })
    statements.push(...page.items)
    if (!page.hasMore) return statements
  }
}

/** The log has a leaf of each statement, once, and no other leaf of this kind. */
async function leafFaults(deps: Service, statements: readonly LiabilitiesRow[]): Promise<string[]> {
  const { logs, logStore, tiles } = deps
  const size = await logStore.size()
  const found: string[] = []
  for (let at = 0; at < size; at += 256) {
    const width = Math.min(256, size - at)
    const entries = await tiles.entries(logs.current, { index: at / 256, width })
    const own = entries.filter(({ kind }) => kind === leafKinds.liabilities)
    found.push(...own.map(({ digest }) => toHex(digest)))
  }
  const wanted = statements.map(({ digest }) => digest).reverse()
  return found.join() === wanted.join()
    ? []
    : [`the log has ${found.length} leaves of ${wanted.length} statements, or others`]
}

/** No part is there of a statement that did not come about. */
async function draftFaults(db: Db, statements: readonly LiabilitiesRow[]): Promise<string[]> {
  const { liabilityParts: parts } = db.tables
  const found = await db.read((q) => rows(q.selectDistinct({ number: parts.number }).from(parts)))
  const known = new Set(statements.map(({ number }) => number))
  return found
    .filter(({ number }) => !known.has(number))
    .map(({ number }) => `draft ${number} stays`)
}

/** Its total is what the grants up to one moment come to, and each account finds its part. */
async function newestFaults(
  deps: Service,
  row: LiabilitiesRow,
  { accounts, to }: { accounts: number; to: number },
): Promise<string[]> {
  let [grants, total] = [0, 0n]
  for (; grants < to && total < BigInt(row.statement.total_nusd); grants++)
    total += amountOf(grants)
  if (String(total) !== row.statement.total_nusd) {
    return [`${row.statement.total_nusd} nUSD is what no number of grants comes to`]
  }
  const whole = await fileOf(deps, row)
  const signers = [{ address: deps.signer.address }]
  const faults: string[] = []
  for (let n = 0; n < accounts; n++) {
    const account = accountOf(n)
    const { own } = await ownFile(deps, account)
    const file: LiabilitiesFile = own ? { ...whole, own } : whole
    const trust = { signers, issuers: [whole.statement.issuer], account, since: row.asOf }
    const wrong = checkLiabilities(file, trust).filter(({ status }) => status !== 'pass')
    faults.push(...wrong.map(({ name, reason }) => `${account}, ${name}: ${reason}`))
    let due = 0n
    for (let i = n; i < grants; i += accounts) due += amountOf(i)
    if (own?.balance_nusd !== String(due)) faults.push(`${account} has ${due} nUSD, not so told`)
  }
  return faults
}
