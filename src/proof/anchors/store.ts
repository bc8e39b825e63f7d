/** Stores anchors and the transactions that carry them. */
import { and, asc, desc, eq, gt, inArray, lt, or, sql } from 'drizzle-orm'
import type { Millis } from '../../kernel/clock.ts'
import { type Page, type PageRequest, toPage } from '../../kernel/pagination.ts'
import type { Db } from '../../storage/db/engine/db.ts'
import {
  assertLease,
  type Lease,
  type LeaseTime,
  takeLease,
} from '../../storage/db/engine/lease.ts'
import type { AnchorRow, ChainTxRow } from '../../storage/db/schema/schema.ts'
import { ensureFact, findFact, writeFact } from '../../storage/db/sql/facts.ts'
import {
  first,
  insert,
  prepared,
  type Query,
  rows,
  update,
  type Work,
} from '../../storage/db/sql/query-steps.ts'

/** Every write takes the worker's lease. @throws LostLease */
export type AnchorStore = RegistryFacts &
  AnchorReads &
  AnchorChanges &
  Transactions & { takeLease(): Promise<Lease | undefined> }

type RegistryFacts = {
  /** The registry of this database; undefined until one is named or deployed. */
  registry(): Promise<string | undefined>
  /** Stores the registry unless there is one. Returns the stored one. */
  ensureRegistry(address: string): Promise<string>
  /** The address that opened the log of an origin in the registry. */
  owner(origin: string): Promise<string | undefined>
  ensureOwner(origin: string, address: string): Promise<string>
  /** When an immediate anchor was last requested. */
  wantedAt(): Promise<Millis | undefined>
  /** Requests an immediate anchor; the worker sees it in its next pass. */
  want(): Promise<void>
}

type AnchorReads = {
  /** Largest first; `after` is the id of an anchor. Undefined if that does not exist. */
  list(issuer: string, page: PageRequest): Promise<Page<AnchorRow> | undefined>
  /** The pending, submitted and confirmed anchors of all logs, oldest first. */
  open(): Promise<AnchorRow[]>
  /** The largest anchor on the chain. */
  newest(issuer: string): Promise<AnchorRow | undefined>
  /** The largest anchor in a final block. */
  newestFinal(issuer: string): Promise<AnchorRow | undefined>
  /** The smallest anchored size that covers a leaf. */
  covering(issuer: string, index: number): Promise<number | undefined>
  /** The anchor of a size; the last one made if there are several. */
  at(issuer: string, size: number): Promise<AnchorRow | undefined>
  /** The anchor made last, in any state. */
  last(issuer: string): Promise<AnchorRow | undefined>
}

type AnchorChanges = {
  add(lease: Lease, row: AnchorRow): Promise<void>
  /** Its transaction is in a block, and the registry holds its root. */
  confirm(lease: Lease, id: string, mined: MinedBlock): Promise<void>
  finalize(lease: Lease, id: string, at: Millis): Promise<void>
  /** Makes an anchor pending again: its block was dropped, or its nonce was used. */
  putBack(lease: Lease, id: string, why: string): Promise<void>
  /** Its signed transaction is sent again. */
  resubmit(lease: Lease, id: string, nonce: number): Promise<void>
  supersede(lease: Lease, id: string): Promise<void>
  fail(lease: Lease, id: string, error: string): Promise<void>
}

type Transactions = {
  /**
   * Stores a signed transaction before it is sent, and fixes the size and root of its anchor:
   * anything signed may be mined.
   */
  writeAhead(
    lease: Lease,
    tx: ChainTxRow,
    anchor?: Pick<AnchorRow, 'id' | 'size' | 'prevSize' | 'root'>,
  ): Promise<void>
  markSent(lease: Lease, hash: string): Promise<void>
  /** The transactions signed for a subject, newest first. */
  txsFor(purpose: ChainTxRow['purpose'], subject: string): Promise<ChainTxRow[]>
  /** The transactions a sender signed with this nonce, newest first. */
  txsWith(sender: string, nonce: number): Promise<ChainTxRow[]>
}

const leaseName = 'anchors'
const registryFact = 'anchors.registry'
const wantedFact = 'anchors.wanted_at'
/** The first owner of a log in the registry; determines the log's id there. */
const ownerFact = (origin: string): string => `anchors.owner/${origin}`

/** The place of an anchor on the chain. */
export type MinedBlock = {
  txHash: string
  blockNumber: number
  blockHash: string
  blockTime: Millis
}

export function anchorStore(db: Db, deps: { clock: LeaseTime; node: string }): AnchorStore {
  const { clock, node } = deps
  const write: Write = (lease, work) =>
    db.write(function* (q) {
      yield* assertLease(db, lease, clock.now())
      return yield* work(q)
    })
  return {
    takeLease: () => takeLease(db, clock, leaseName, node),
    ...registryFacts(db, clock),
    ...anchorReads(db),
    ...anchorChanges(db, write),
    ...transactions(db, clock, write),
  }
}

type Write = <T>(lease: Lease, work: (q: Query) => Work<T>) => Promise<T>

function registryFacts(db: Db, clock: LeaseTime): RegistryFacts {
  return {
    registry: () => findFact(db, registryFact),
    ensureRegistry: (address) => ensureFact(db, registryFact, address),
    owner: (origin) => findFact(db, ownerFact(origin)),
    ensureOwner: (origin, address) => ensureFact(db, ownerFact(origin), address),
    wantedAt: async () => {
      const at = await findFact(db, wantedFact)
      return at === undefined ? undefined : Number(at)
    },
    want: () => db.write(() => writeFact(db, wantedFact, String(clock.now()))),
  }
}

function anchorReads(db: Db): AnchorReads {
  const { anchors } = db.tables
  const onChain = (issuer: string) =>
    and(eq(anchors.issuer, issuer), inArray(anchors.status, ['confirmed', 'final']))

  return {
    list: (issuer, page) =>
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
    open: () =>
      db.read((q) => {
        // Literally as in the partial index: SQLite does not match parameters.
        const isOpen = sql`${anchors.status} in ('pending', 'submitted', 'confirmed')`
        return rows(q.select().from(anchors).where(isOpen).orderBy(asc(anchors.id)))
      }),
    newest: (issuer) =>
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
    newestFinal: (issuer) =>
      db.read((q) => {
        const final = and(eq(anchors.issuer, issuer), eq(anchors.status, 'final'))
        return first(q.select().from(anchors).where(final).orderBy(desc(anchors.size)).limit(1))
      }),
    covering: (issuer, index) =>
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
    at: (issuer, size) =>
      db.read((q) => {
        const named = and(eq(anchors.issuer, issuer), eq(anchors.size, size))
        return first(q.select().from(anchors).where(named).orderBy(desc(anchors.id)).limit(1))
      }),
    last: (issuer) =>
      db.read((q) => {
        const ours = q.select().from(anchors).where(eq(anchors.issuer, issuer))
        // Ids begin with a time, and later anchors are never smaller.
        return first(ours.orderBy(desc(anchors.size), desc(anchors.id)).limit(1))
      }),
  }
}

function anchorChanges(db: Db, write: Write): AnchorChanges {
  const { anchors, chainTxs } = db.tables
  const change = (lease: Lease, changed: Partial<AnchorRow> & { id: string }): Promise<void> => {
    const set = Object.keys(changed).filter((name) => name !== 'id')
    return write(lease, () => update(anchors, [changed], set as (keyof AnchorRow & string)[]))
  }

  return {
    add: (lease, row) => write(lease, () => insert(anchors, [row])),
    confirm: (lease, id, mined) =>
      change(lease, { id, status: 'confirmed', error: null, ...mined }),
    finalize: (lease, id, at) => change(lease, { id, status: 'final', finalizedAt: at }),
    putBack: (lease, id, why) =>
      write(lease, function* (q) {
        const back = { id, status: 'pending', nonce: null, error: why, ...notMined } as const
        yield* update(anchors, [back], ['status', 'nonce', 'error', ...minedColumns])
        // Servers may have dropped it: it is sent again if its nonce is still free.
        const signed = and(eq(chainTxs.purpose, 'anchor'), eq(chainTxs.subject, id))
        yield* rows(q.update(chainTxs).set({ sentAt: null }).where(signed).returning())
      }),
    resubmit: (lease, id, nonce) => change(lease, { id, status: 'submitted', nonce }),
    supersede: (lease, id) => change(lease, { id, status: 'superseded' }),
    fail: (lease, id, error) => change(lease, { id, status: 'failed', error }),
  }
}

function transactions(db: Db, clock: LeaseTime, write: Write): Transactions {
  const { anchors, chainTxs } = db.tables
  return {
    writeAhead: (lease, tx, anchor) =>
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
    markSent: (lease, hash) =>
      write(lease, () => update(chainTxs, [{ hash, sentAt: clock.now() }], ['sentAt'])),
    txsFor: async (purpose, subject) => {
      const named = and(eq(chainTxs.purpose, purpose), eq(chainTxs.subject, subject))
      return (await db.read((q) => rows(q.select().from(chainTxs).where(named)))).sort(newestFirst)
    },
    txsWith: async (sender, nonce) => {
      const named = and(eq(chainTxs.sender, sender), eq(chainTxs.nonce, nonce))
      return (await db.read((q) => rows(q.select().from(chainTxs).where(named)))).sort(newestFirst)
    },
  }
}

/** By nonce, then by fees: a replacement offers more. */
const newestFirst = (a: ChainTxRow, b: ChainTxRow): number =>
  b.nonce - a.nonce || (BigInt(b.maxFeeWei) > BigInt(a.maxFeeWei) ? 1 : -1)

const notMined = { txHash: null, blockNumber: null, blockHash: null, blockTime: null } as const
const minedColumns = ['txHash', 'blockNumber', 'blockHash', 'blockTime'] as const
