import { eq, inArray, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../src/storage/db/engine/db.ts'
import type { WindowRow } from '../../src/storage/db/schema/schema.ts'
import { prepared, type Query, rows, type Work } from '../../src/storage/db/sql/query-steps.ts'
import { chainIn, type Model, unstored } from './model.ts'

/** What runs hold that no row tells of, by account and by window. */
export function holdsInMemory(m: Model) {
  const accounts = new Map<string, bigint>()
  const windows = new Map<string, bigint>()
  for (const { account, hold, windows: own } of unstored(m)) {
    accounts.set(account, unheld(accounts, account) + hold)
    for (const id of own) windows.set(id, unheld(windows, id) + hold)
  }
  return { accounts, windows }
}

export const unheld = (held: ReadonlyMap<string, bigint>, id: string): bigint => held.get(id) ?? 0n

/** The runs that processes have in memory alone are the model's. */
export function memoryFaults(m: Model, nodes: readonly Db[]): string[] {
  const is = nodes.flatMap(({ open }) => [...open.all()].map(({ id }) => id)).sort()
  const says = unstored(m).map(({ id }) => id)
  return is.join() === says.sort().join() ? [] : [`in memory are ${is.join()}, not ${says.join()}`]
}

/**
 * What must hold after every command: balances, holds, plans, the newest transfers, the open runs
 * and the windows of `keys` are the model's. The database returns them as one text; rows
 * are read only if it differs from the model's, and a `whole` look sums up all windows.
 */
export async function nearFaults(
  db: Db,
  m: Model,
  look: { keys: readonly string[]; whole: boolean },
): Promise<string[]> {
  const chains = look.keys.flatMap((id) => (m.keys.has(id) ? chainIn(m, id) : []))
  const named = [...new Set(chains.map(({ id }) => id))]
  const isSame = await isAsModel(db, m, named)
  if (isSame && !look.whole) return []
  const faults = await rowFaults(db, m, named)
  return isSame || faults.length > 0 ? faults : ["the text of the database is not the model's"]
}

async function isAsModel(db: Db, m: Model, keys: readonly string[]): Promise<boolean> {
  const named = JSON.stringify(keys)
  const found = await db.read((q) =>
    prepared('sim.text', { named }, (v) =>
      q.select(textsOf(db, v.named)).from(sql`(select 1 as one) as one`),
    ),
  )
  const { accounts, open, windows } = found[0] ?? {}
  const memory = holdsInMemory(m)
  const known = [...m.accounts].map(([id, a]) => {
    const plan = `${a.plan} ${a.planUntil ?? ''}`
    return `${id} ${a.balance} ${a.held - unheld(memory.accounts, id)} ${plan} ${a.suspended ? 'suspended' : 'active'}`
  })
  const isWindow = (line: string): boolean => {
    const [id = '', spent, held] = line.split(' ')
    const purse = m.purses.get(id)
    const says = `${purse?.spent ?? 0n} ${(purse?.held ?? 0n) - unheld(memory.windows, id)}`
    return says === `${spent} ${held}`
  }
  return (
    sorted(linesOf(accounts)) === sorted(known) &&
    sorted(linesOf(open)) === sorted(storedIn(m)) &&
    linesOf(windows).every(isWindow)
  )
}

const storedIn = (m: Model): string[] =>
  [...m.open.values()].flatMap(({ id, stored }) => (stored ? id : []))

const linesOf = (text: string | null | undefined): string[] => (text ? text.split('\n') : [])
const sorted = (lines: string[]): string => lines.sort().join('\n')

/** A line each; that of an account is wrong also if its journal ends elsewhere. */
function textsOf(db: Db, named: unknown) {
  const { exclusive } = db
  const { accounts: a, keyWindows: w, openRuns } = db.tables
  const text = (column: unknown): SQL => sql`cast(${column} as text)`
  const all = (line: SQL) =>
    sql`string_agg(${line}, ${sql.raw(exclusive ? 'char(10)' : 'chr(10)')})`
  const money = sql`case when ${a.moves} > 0 and (${balanceAfter(db)}) is distinct from ${a.balance}
    then 'wrong' else ${text(a.balance)} end || ' ' || ${text(a.held)}`
  const plan = sql`${a.plan} || ' ' || coalesce(${text(a.planUntil)}, '') || ' ' || ${a.status}`
  const account = sql`${a.id} || ' ' || ${money} || ' ' || ${plan}`
  const window = sql`${w.keyId} || ':' || ${text(w.windowStart)}
    || ' ' || ${text(w.spent)} || ' ' || ${text(w.held)}`
  const list = exclusive
    ? sql`select value from json_each(${named})`
    : sql`select json_array_elements_text(${named}::text::json)`
  return {
    accounts: sql<string | null>`(select ${all(account)} from ${a})`,
    open: sql<string | null>`(select ${all(sql`${openRuns.id}`)} from ${openRuns})`,
    windows: sql<string | null>`(select ${all(window)} from ${w} where ${w.keyId} in (${list}))`,
  }
}

async function rowFaults(db: Db, m: Model, named: readonly string[]): Promise<string[]> {
  const { accounts, openRuns } = db.tables
  const memory = holdsInMemory(m)
  const faults: string[] = []
  const must = (holds: boolean, what: string) => void (holds || faults.push(what))
  const found = await db.read(function* (q) {
    return {
      accounts: yield* prepared('sim.accounts', {}, () => q.select().from(accounts)),
      last: yield* prepared('sim.last', {}, () => newestOf(db, q)),
      open: yield* prepared('sim.open', {}, () => q.select({ id: openRuns.id }).from(openRuns)),
      sums: yield* prepared('sim.sums', {}, () => sumsOf(db, q)),
      windows: yield* windowsOf(db, q, named),
    }
  })
  for (const { id, balance, held, status, plan, planUntil, moves } of found.accounts) {
    const known = m.accounts.get(id)
    const money = `${known?.balance} ${(known?.held ?? 0n) - unheld(memory.accounts, id)}`
    const says = `${money} ${known?.plan} ${known?.planUntil} ${known?.suspended}`
    const has = `${balance} ${held} ${plan} ${planUntil} ${status === 'suspended'}`
    must(says === has, `account ${id} is ${has}, not ${says}`)
    must(held >= 0n && balance >= held, `account ${id} holds ${held} of ${balance}`)
    const after = found.last.find((one) => one.id === id)?.after ?? 0n
    must(after === balance || moves === 0, `account ${id}: ${balance}, its journal ${after}`)
  }
  const open = found.open.map(({ id }) => id).sort()
  const known = storedIn(m).sort()
  must(open.join() === known.join(), `open are ${open.join()}, not ${known.join()}`)
  for (const { keyId, windowStart, spent, held } of found.windows) {
    const id = `${keyId}:${windowStart}`
    const purse = m.purses.get(id) ?? { spent: 0n, held: 0n }
    const says = `${purse.spent} ${purse.held - unheld(memory.windows, id)}`
    must(
      says === `${spent} ${held}`,
      `window ${keyId}:${windowStart}: ${spent} ${held}, not ${says}`,
    )
  }
  let [spent, held] = [0n, 0n]
  for (const purse of m.purses.values()) [spent, held] = [spent + purse.spent, held + purse.held]
  for (const amount of memory.windows.values()) held -= amount
  const sums = found.sums[0]
  const of = `${sums?.spent} ${sums?.held} ${sums?.broken}`
  must(of === `${spent} ${held} 0`, `all windows: ${of}, not ${spent} ${held} 0`)
  return faults
}

/** What each account had after its newest transfer. */
function newestOf(db: Db, q: Query) {
  const { accounts } = db.tables
  const after = sql`(${balanceAfter(db)})`.mapWith(accounts.balance) as SQL<bigint | null>
  return q.select({ id: accounts.id, after }).from(accounts)
}

/** The balance after the newest transfer of an account of the query around it, by an index. */
function balanceAfter({ tables: { accounts: a }, views: { journal: t } }: Db): SQL {
  const newest = sql`${t.accountId} = ${a.id} and ${t.at} = ${a.movedAt} and ${t.seq} = ${a.moves}`
  return sql`select ${t.balance} from ${t} where ${newest}`
}

/** What all windows come to, and how many break their bounds. */
function sumsOf({ tables: { keyWindows: windows } }: Db, q: Query) {
  const broken = sql<string>`cast(coalesce(sum(case when ${windows.spent} < 0 or ${windows.held} < 0
    or ${windows.spent} + ${windows.held} > ${windows.limit} then 1 else 0 end), 0) as text)`
  const total = (column: unknown) => sql<string>`cast(coalesce(sum(${column}), 0) as text)`
  const all = { spent: total(windows.spent), held: total(windows.held), broken }
  return q.select(all).from(windows)
}

/** Those keys' windows, each by a statement that is compiled once; a server is asked once. */
function* windowsOf(
  { tables, exclusive }: Db,
  q: Query,
  keys: readonly string[],
): Work<WindowRow[]> {
  const { keyWindows } = tables
  if (!exclusive) {
    if (keys.length === 0) return []
    return yield* rows(
      q
        .select()
        .from(keyWindows)
        .where(inArray(keyWindows.keyId, [...keys])),
    )
  }
  const found: WindowRow[] = []
  for (const keyId of keys) {
    const one = prepared('sim.windows', { keyId }, (v) =>
      q.select().from(keyWindows).where(eq(keyWindows.keyId, v.keyId)),
    )
    found.push(...(yield* one))
  }
  return found
}
