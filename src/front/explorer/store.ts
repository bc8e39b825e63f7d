/** The SQL of the explorer: kept sums, the log backwards, and searches. */
import { and, asc, desc, eq, gte, inArray, lt, sql, sum } from 'drizzle-orm'
import type { Millis } from '../../kernel/clock.ts'
import { type Page, toPage } from '../../kernel/pagination.ts'
import { type Ended, isErased, receiptIdOf } from '../../proof/receipts/receipt.ts'
import { cursorOf } from '../../storage/counts/counter.ts'
import type { Db } from '../../storage/db/engine/db.ts'
import { runColumns } from '../../storage/db/schema/run-columns.ts'
import type {
  AnchorRow,
  EndedRun,
  ExplorerCountRow,
  ExplorerModelRow,
  PassportRow,
  ShareRow,
} from '../../storage/db/schema/schema.ts'
import { numbered, numberedRuns } from '../../storage/db/sql/numbered-runs.ts'
import { first, prepared, rows, type Work } from '../../storage/db/sql/query-steps.ts'
import type { Grain } from '../../storage/figures/grain.ts'
import { type PrefixFinds, prefixFinds, rootsMax } from './store/prefixes.ts'

export type ExplorerStore = FigureReads & ReceiptReads & PrefixSearch & PrefixFinds

/** A numbered receipt; `share` is undefined unless it is public. */
export type LoggedReceipt = {
  run: Ended & { logPlace: number }
  share: Pick<ShareRow, 'sections' | 'updatedAt'> | undefined
}

/** The number of counted receipts, and the first log place not counted yet. */
export type CountProgress = { receipts: number; cursor: number }

type FigureReads = {
  /** Counts per hour or day since `from`, oldest first. */
  counts(grain: ExplorerCountRow['grain'], from: Millis): Promise<ExplorerCountRow[]>
  counted(): Promise<CountProgress>
  /** Public receipts by model, per hour or day since `from`, or of all time. */
  models(grain: Grain, from: Millis): Promise<ExplorerModelRow[]>
}

type ReceiptReads = {
  /** Numbered receipts before a place, newest first. */
  recent(before: number, limit: number): Promise<Page<LoggedReceipt>>
  /** Public receipts with an id below one, newest first. */
  published(before: string, limit: number): Promise<Page<LoggedReceipt>>
  /** The place of the newest numbered receipt; -1 before the first. */
  newestPlace(): Promise<number>
}

type PrefixSearch = {
  /** The public receipt with this digest. */
  publicByDigest(digest: Uint8Array): Promise<string | undefined>
  /** The receipt at a log place, if it is public. */
  publicAt(place: number): Promise<string | undefined>
  anchor(id: string): Promise<AnchorRow | undefined>
  /** The anchor that a transaction put on the chain. */
  anchorByTx(hash: string): Promise<AnchorRow | undefined>
  /** The newest anchor with this root, among the newest {@link rootsMax} of a log. */
  anchorByRoot(issuer: string, root: Uint8Array): Promise<AnchorRow | undefined>
  /** The public passports of an account that name it as their owner. */
  passportsOf(account: string): Promise<Pick<PassportRow, 'handle' | 'displayName'>[]>
}

export function explorerStore(db: Db): ExplorerStore {
  return { ...figureReads(db), ...receiptReads(db), ...finds(db), ...prefixFinds(db) }
}

function figureReads(db: Db): FigureReads {
  const { explorerCounts: counts, explorerModels: models, facts } = db.tables

  return {
    counts: (grain, from) =>
      db.read((q) =>
        prepared('explorer.counts', { grain, from }, (values) =>
          q
            .select()
            .from(counts)
            .where(and(eq(counts.grain, values.grain), gte(counts.at, values.from)))
            .orderBy(asc(counts.at)),
        ),
      ),
    counted: () =>
      db.read(function* (q): Work<CountProgress> {
        const days = q.select({ all: sum(counts.receipts) }).from(counts)
        const total = yield* first(days.where(eq(counts.grain, 'day')))
        const name = cursorOf({ name: 'explorer' })
        const cursor = yield* first(q.select().from(facts).where(eq(facts.name, name)))
        return { receipts: Number(total?.all ?? 0), cursor: Number(cursor?.value ?? 0) }
      }),
    models: (grain, from) =>
      db.read((q) =>
        prepared('explorer.models', { grain, from }, (values) =>
          q
            .select()
            .from(models)
            .where(and(eq(models.grain, values.grain), gte(models.at, values.from))),
        ),
      ),
  }
}

function receiptReads(db: Db): ReceiptReads {
  const { runs, shares, erasedReceipts } = db.tables
  // Outputs and revealed texts can be large, and no list shows them.
  const { output: _, ...columns } = runColumns(db, numbered.place)
  const receiptId = sql`'rcpt_' || substr(${runs.id}, 5)`
  const listed = {
    run: columns,
    sections: shares.sections,
    updatedAt: shares.updatedAt,
    erased: erasedReceipts.receipt,
  }
  const { output: _output, ...ownColumns } = runColumns(db)

  return {
    recent: async (before, limit) => {
      const found = await db.read((q) =>
        prepared('explorer.recent', { before, limit: limit + 1 }, (values) =>
          q
            .select(listed)
            .from(numberedRuns({ ...values, newestFirst: true }))
            .innerJoin(runs, eq(runs.id, numbered.runId))
            .leftJoin(
              shares,
              sql`${shares.receiptId} = ${receiptId} and ${shares.visibility} = 'public'`,
            )
            .leftJoin(
              erasedReceipts,
              sql`${erasedReceipts.receiptId} = ${receiptId} and ${shares.receiptId} is not null`,
            )
            .orderBy(desc(numbered.place)),
        ),
      )
      return toPage(found.map(toLogged), limit)
    },
    published: async (before, limit) => {
      const found = await db.read((q) =>
        prepared('explorer.published', { before, limit: limit + 1 }, (values) =>
          q
            .select({ ...listed, run: ownColumns })
            .from(shares)
            .innerJoin(runs, sql`${runs.id} = 'run_' || substr(${shares.receiptId}, 6)`)
            .leftJoin(erasedReceipts, eq(erasedReceipts.receiptId, shares.receiptId))
            .where(and(eq(shares.visibility, 'public'), lt(shares.receiptId, values.before)))
            .orderBy(desc(shares.receiptId))
            .limit(values.limit),
        ),
      )
      const { items, hasMore } = toPage(found, limit)
      // One that was shared within moments of its end may have no place yet.
      return { items: items.filter(({ run }) => run.logPlace !== null).map(toLogged), hasMore }
    },
    newestPlace: async () => {
      const found = await db.read((q) =>
        prepared('explorer.newest', {}, () =>
          q.select({ place: numbered.place }).from(numberedRuns({ limit: 1, newestFirst: true })),
        ),
      )
      return found[0]?.place ?? -1
    },
  }
}

function finds(db: Db): PrefixSearch {
  const { anchors, chainTxs, passports, shares } = db.tables

  return {
    publicByDigest: (digest) =>
      db.read(function* (q) {
        const named = and(eq(shares.digest, digest), eq(shares.visibility, 'public'))
        return (yield* first(q.select({ id: shares.receiptId }).from(shares).where(named)))?.id
      }),
    publicAt: (place) =>
      db.read(function* (q) {
        const at = numberedRuns({ from: place, before: place + 1 })
        const run = yield* first(q.select({ id: numbered.runId }).from(at))
        const id = receiptIdOf(run?.id ?? 'run_')
        const named = and(eq(shares.receiptId, id), eq(shares.visibility, 'public'))
        return (yield* first(q.select({ id: shares.receiptId }).from(shares).where(named)))?.id
      }),
    anchor: (id) => db.read((q) => first(q.select().from(anchors).where(eq(anchors.id, id)))),
    anchorByTx: (hash) =>
      db.read(function* (q) {
        const sent = yield* first(q.select().from(chainTxs).where(eq(chainTxs.hash, hash)))
        if (sent?.purpose !== 'anchor') return undefined
        const found = yield* first(q.select().from(anchors).where(eq(anchors.id, sent.subject)))
        return found?.txHash === hash ? found : undefined
      }),
    anchorByRoot: (issuer, root) =>
      db.read(function* (q) {
        const newest = q
          .select({ id: anchors.id, root: anchors.root, size: anchors.size })
          .from(anchors)
          .where(eq(anchors.issuer, issuer))
          .orderBy(desc(anchors.size))
          .limit(rootsMax)
          .as('newest')
        const named = q.select({ id: newest.id }).from(newest).where(eq(newest.root, root))
        const found = yield* first(named.orderBy(desc(newest.size)).limit(1))
        return found && (yield* first(q.select().from(anchors).where(eq(anchors.id, found.id))))
      }),
    passportsOf: (account) =>
      db.read((q) =>
        rows(
          q
            .select({ handle: passports.handle, displayName: passports.displayName })
            .from(passports)
            .where(
              and(
                eq(passports.accountId, account),
                eq(passports.ownerShown, true),
                inArray(passports.status, ['public']),
              ),
            )
            .limit(20),
        ),
      ),
  }
}

type PrefixMatch = {
  run: Omit<EndedRun, 'output'>
  sections: ShareRow['sections'] | null
  updatedAt: number | null
  erased: Ended['erased'] | null
}

function toLogged({ run, sections, updatedAt, erased }: PrefixMatch): LoggedReceipt {
  const { logPlace } = run
  if (logPlace === null) throw new Error(`${run.id} has no place`)
  const kept = isErased(run) && erased ? { erased } : {}
  const isPublic = sections !== null && updatedAt !== null
  return {
    run: { ...run, ...kept, output: null, logPlace },
    share: isPublic ? { sections, updatedAt } : undefined,
  }
}
