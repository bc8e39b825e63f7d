/** Reads the newest liabilities statement, to compare it with the journal. */
import { and, asc, desc, eq, gt, isNotNull } from 'drizzle-orm'
import { toHex } from '../../kernel/hex.ts'
import type { Db } from '../../storage/db/engine/db.ts'
import type { LiabilitiesRow } from '../../storage/db/schema/schema.ts'
import { first, type Query, rows, type Work } from '../../storage/db/sql/query-steps.ts'
import {
  findLeaf,
  idOf,
  leafNodes,
  type PartHead,
  partWith,
  readHeads,
  rootOver,
} from '../../storage/liabilities/leaves.ts'
import { liabilitiesDigest } from '../../verify/liabilities.ts'
import type { Audit } from '../audit.ts'

/** Accounts of one step, each with three hashes. */
const pageAccounts = 400
/** The clocks of nodes may differ by so much, in ms: a newer account need not be in it. */
const lateMs = 60_000

type Tree = { heads: PartHead[]; parts: Uint8Array[] }

/** Tells an audit how the newest statement counts each account, and what is wrong with itself. */
export function* expectLiabilities(
  db: Db,
  q: Query,
  audit: Audit,
  ending?: AbortSignal,
): Work<void> {
  const { liabilities } = db.tables
  const whole = q.select().from(liabilities).where(isNotNull(liabilities.seed))
  const row = yield* first(whole.orderBy(desc(liabilities.number)).limit(1))
  if (!row) return
  const tree = yield* readTree(db, q, row, audit, ending)
  if (tree) yield* expectAccounts(db, q, { row, tree }, audit, ending)
}

/** The leaves of a statement, when they lead to its root. */
function* readTree(
  db: Db,
  q: Query,
  { number, statement, digest }: LiabilitiesRow,
  audit: Audit,
  ending?: AbortSignal,
): Work<Tree | undefined> {
  const { liabilityParts: table } = db.tables
  const parts: Uint8Array[] = []
  const nodes: PartHead['node'][] = []
  for (;;) {
    ending?.throwIfAborted()
    const own = and(eq(table.number, number), gt(table.part, parts.length))
    const found = yield* first(q.select().from(table).where(own).orderBy(asc(table.part)).limit(1))
    if (!found) break
    parts.push(found.bytes)
    nodes.push(rootOver(leafNodes(found.bytes)))
  }
  const top = yield* first(
    q
      .select()
      .from(table)
      .where(and(eq(table.number, number), eq(table.part, 0))),
  )
  const heads = top ? readHeads(top.bytes) : []
  const isWhole = heads.length === nodes.length && (nodes.length & (nodes.length - 1)) === 0
  const root = isWhole && nodes.length > 0 ? rootOver(nodes) : undefined
  const holds =
    root !== undefined &&
    toHex(root.hash) === statement.root &&
    String(root.sum) === statement.total_nusd &&
    toHex(liabilitiesDigest(statement)) === digest
  if (holds) return { heads, parts }
  audit.addFault(
    `the stored leaves of statement ${number} of the liabilities do not lead to its root`,
  )
  return undefined
}

function* expectAccounts(
  db: Db,
  q: Query,
  { row, tree }: { row: LiabilitiesRow; tree: Tree },
  audit: Audit,
  ending?: AbortSignal,
): Work<void> {
  const { accounts } = db.tables
  const { id, createdAt } = accounts
  const { number, seed, asOf } = row
  if (!seed) return
  let last = ''
  for (;;) {
    ending?.throwIfAborted()
    const some = q.select({ id, createdAt }).from(accounts).where(gt(id, last))
    const page = yield* rows(some.orderBy(asc(id)).limit(pageAccounts))
    for (const account of page) {
      const blinded = idOf(seed, account.id)
      const part = tree.parts[partWith(tree.heads, blinded)]
      const leaf = part && findLeaf(part, blinded)
      if (leaf) audit.expectLiability(number, account.id, leaf)
      else if (account.createdAt < asOf - lateMs) {
        audit.addFault(`statement ${number} of the liabilities leaves out account ${account.id}`)
      }
    }
    last = page.at(-1)?.id ?? last
    if (page.length < pageAccounts) return
  }
}
