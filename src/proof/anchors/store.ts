import { and, asc, desc, eq, gt, inArray, lt, or, sql } from 'drizzle-orm'
import type { Millis } from '../../kernel/clock.ts'
import { type Page, type PageRequest, toPage } from '../../kernel/pagination.ts'
import type { Db } from '../../storage/db/db.ts'
import { findFact, settleFact, writeFact } from '../../storage/db/facts.ts'
import { assertLease, type Lease, type LeaseTime, takeLease } from '../../storage/db/lease.ts'
import {
  first,
  insert,
  prepared,
  type Query,
  rows,
  update,
  type Work,
} from '../../storage/db/query-steps.ts'
import type { AnchorRow, ChainTxRow } from '../../storage/db/schema.ts'

export type AnchorStore = ReturnType<typeof anchorStore>

const leaseName = 'anchors'
const registryFact = 'anchors.registry'
const wantedFact = 'anchors.wanted_at'
/** The first owner of a log in the registry: its id there follows from it. */
const ownerFact = (origin: string): string => `anchors.owner/${origin}`

/** Where an anchor was found on the chain. */
export type Mined = { txHash: string; blockNumber: number; blockHash: string; blockTime: Millis }

/** Anchors and the transactions that carry them. Whoever writes holds the lease. */
export function anchorStore(db: Db, deps: { clock: LeaseTime; node: string }) {
  const { clock, node } = deps
  /** One write of the worker; fails when the lease went to somebody else. */
  const write: Write = (lease, work) =>
    db.write(function* (q) {
      yield* assertLease(db, q, lease, clock.now())
      return yield* work(q)
    })
  return {
    takeLease: (): Promise<Lease | undefined> => takeLease(db, clock, leaseName, node),
    ...registryFacts(db, clock),
    ...anchorReads(db),
    ...anchorChanges(db, write),
    ...transactions(db, clock, write),
  }
}

type Write = <T>(lease: Lease, work: (q: Query) => Work<T>) => Promise<T>

function registryFacts(db: Db, clock: LeaseTime) {
  return {
    /** The registry of this database; undefined before one was named or deployed. */
    registry: () => findFact(db, registryFact),
    /** Names the registry, and gives the one that stands. */
    settleRegistry: (address: string) => settleFact(db, registryFact, address),
    /** Who opened the log of an origin in the registry; undefined before it was. */
    owner: (origin: string) => findFact(db, ownerFact(origin)),
    settleOwner: (origin: string, address: string) => settleFact(db, ownerFact(origin), address),
    /** When somebody last asked for an anchor at once. */
    wantedAt: async (): Promise<Millis | undefined> => {
      const at = await findFact(db, wantedFact)
      return at === undefined ? undefined : Number(at)
    },
    /** Asks for an anchor at once: the worker reads it with its next look. */
    want: (): Promise<void> => db.write(() => writeFact(db, wantedFact, String(clock.now()))),
  }
}

function anchorReads(db: Db) {
  const { anchors } = db.tables
  const onChain = (issuer: string) =>
    and(eq(anchors.issuer, issuer), inArray(anchors.status, ['confirmed', 'final']))

  return {
    /** Largest first; `after` is the id of one of them. */
    list: (issuer: string, page: PageRequest): Promise<Page<AnchorRow> | undefined> =>
      db.read(function* (q) {
        const named = page.after === undefined ? undefined : eq(anchors.id, page.after)
        const from = named && (yield* first(q.select().from(anchors).where(named)))
        if (page.after !== undefined && from?.issuer !== issuer) return undefined
        const behind =
          from &&
          or(lt(anchors.size, from.size), and(eq(anchors.size, from.size), lt(anchors.id, from.id)))
        const listed = q
          .select()
          .from(anchors)
          .where(and(eq(anchors.issuer, issuer), behind))
          .orderBy(desc(anchors.size), desc(anchors.id))
        return toPage(yield* rows(listed.limit(page.limit + 1)), page.limit)
      }),
    /** Those of any log whose end is open, oldest first. */
    open: (): Promise<AnchorRow[]> =>
      db.read((q) => {
        // In the words of the index: SQLite does not look into parameters for it.
        const isOpen = sql`${anchors.status} in ('pending', 'submitted', 'confirmed')`
        return rows(q.select().from(anchors).where(isOpen).orderBy(asc(anchors.id)))
      }),
    /** The largest that is on the chain. */
    newest: (issuer: string): Promise<AnchorRow | undefined> =>
      db.read(function* (q) {
        const newest = (values: { issuer: string }) =>
          q
            .select()
            .from(anchors)
            .where(onChain(values.issuer))
            .orderBy(desc(anchors.size))
            .limit(1)
        return (yield* prepared('anchors.newest', { issuer }, newest))[0]
      }),
    /** The largest whose block is final. */
    newestFinal: (issuer: string): Promise<AnchorRow | undefined> =>
      db.read((q) => {
        const final = and(eq(anchors.issuer, issuer), eq(anchors.status, 'final'))
        return first(q.select().from(anchors).where(final).orderBy(desc(anchors.size)).limit(1))
      }),
    /** The smallest size on the chain that covers a leaf. */
    covering: (issuer: string, index: number): Promise<number | undefined> =>
      db.read(function* (q) {
        const covering = (values: { issuer: string; index: number }) =>
          q
            .select({ size: anchors.size })
            .from(anchors)
            .where(and(onChain(values.issuer), gt(anchors.size, values.index)))
            .orderBy(asc(anchors.size))
            .limit(1)
        return (yield* prepared('anchors.covering', { issuer, index }, covering))[0]?.size
      }),
    /** The one of a size, if there is; of several the last one made. */
    at: (issuer: string, size: number): Promise<AnchorRow | undefined> =>
      db.read((q) => {
        const named = and(eq(anchors.issuer, issuer), eq(anchors.size, size))
        return first(q.select().from(anchors).where(named).orderBy(desc(anchors.id)).limit(1))
      }),
    /** The one made last, whatever became of it. */
    last: (issuer: string): Promise<AnchorRow | undefined> =>
      db.read((q) => {
        const ours = q.select().from(anchors).where(eq(anchors.issuer, issuer))
        // Ids begin with their time, and a later anchor never has a smaller size.
        return first(ours.orderBy(desc(anchors.size), desc(anchors.id)).limit(1))
      }),
  }
}

function anchorChanges(db: Db, write: Write) {
  const { anchors, chainTxs } = db.tables
  const change = (lease: Lease, changed: Partial<AnchorRow> & { id: string }): Promise<void> => {
    const set = Object.keys(changed).filter((name) => name !== 'id')
    return write(lease, () => update(anchors, [changed], set as (keyof AnchorRow & string)[]))
  }

  return {
    add: (lease: Lease, row: AnchorRow): Promise<void> =>
      write(lease, () => insert(anchors, [row])),
    /** Its transaction is in a block, and the registry holds its root. */
    confirm: (lease: Lease, id: string, mined: Mined): Promise<void> =>
      change(lease, { id, status: 'confirmed', error: null, ...mined }),
    finalize: (lease: Lease, id: string, at: Millis): Promise<void> =>
      change(lease, { id, status: 'final', finalizedAt: at }),
    /** Back to where nothing was sent: its block went away, or another took its nonce. */
    putBack: (lease: Lease, id: string, why: string): Promise<void> =>
      write(lease, function* (q) {
        const back = { id, status: 'pending', nonce: null, error: why, ...notMined } as const
        yield* update(anchors, [back], ['status', 'nonce', 'error', ...minedColumns])
        // What was sent may be forgotten by now: where its nonce still serves, it goes out again.
        const signed = and(eq(chainTxs.purpose, 'anchor'), eq(chainTxs.subject, id))
        yield* rows(q.update(chainTxs).set({ sentAt: null }).where(signed).returning())
      }),
    /** The same transaction is on its way again. */
    resubmit: (lease: Lease, id: string, nonce: number): Promise<void> =>
      change(lease, { id, status: 'submitted', nonce }),
    supersede: (lease: Lease, id: string): Promise<void> =>
      change(lease, { id, status: 'superseded' }),
    fail: (lease: Lease, id: string, error: string): Promise<void> =>
      change(lease, { id, status: 'failed', error }),
  }
}

function transactions(db: Db, clock: LeaseTime, write: Write) {
  const { anchors, chainTxs } = db.tables
  return {
    /**
     * Writes a signed transaction before it is sent. That of an anchor fixes its size and root:
     * what was signed once can come to stand on the chain.
     */
    writeAhead: (
      lease: Lease,
      tx: ChainTxRow,
      anchor?: Pick<AnchorRow, 'id' | 'size' | 'prevSize' | 'root'>,
    ): Promise<void> =>
      write(lease, function* () {
        yield* insert(chainTxs, [tx])
        if (!anchor) return
        const set = { status: 'submitted', nonce: tx.nonce, submittedAt: tx.createdAt } as const
        const changed = { ...anchor, ...set }
        yield* update(
          anchors,
          [changed],
          ['size', 'prevSize', 'root', 'status', 'nonce', 'submittedAt'],
        )
      }),
    markSent: (lease: Lease, hash: string): Promise<void> =>
      write(lease, () => update(chainTxs, [{ hash, sentAt: clock.now() }], ['sentAt'])),
    /** What was signed for one thing, newest first. */
    txsFor: async (purpose: ChainTxRow['purpose'], subject: string): Promise<ChainTxRow[]> => {
      const named = and(eq(chainTxs.purpose, purpose), eq(chainTxs.subject, subject))
      return (await db.read((q) => rows(q.select().from(chainTxs).where(named)))).sort(newestFirst)
    },
    /** What a sender signed with this nonce, newest first. */
    txsWith: async (sender: string, nonce: number): Promise<ChainTxRow[]> => {
      const named = and(eq(chainTxs.sender, sender), eq(chainTxs.nonce, nonce))
      return (await db.read((q) => rows(q.select().from(chainTxs).where(named)))).sort(newestFirst)
    },
  }
}

/** By nonce, and then by fees: what replaces another offers more. */
const newestFirst = (a: ChainTxRow, b: ChainTxRow): number =>
  b.nonce - a.nonce || (BigInt(b.maxFeeWei) > BigInt(a.maxFeeWei) ? 1 : -1)

const notMined = { txHash: null, blockNumber: null, blockHash: null, blockTime: null } as const
const minedColumns = ['txHash', 'blockNumber', 'blockHash', 'blockTime'] as const
