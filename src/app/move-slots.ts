/** Moves slots from one shard to another while both serve: stop, take out, take in, confirm. */
import { sponsorAccount } from '../access/accounts/account.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Ids } from '../kernel/ids.ts'
import type { Nusd } from '../kernel/money.ts'
import type { Db } from '../storage/db/engine/db.ts'
import { openLeaseClock } from '../storage/db/engine/lease-clock.ts'
import type { PgDirect } from '../storage/db/engine/pg-drizzle.ts'
import type { Sealer } from '../storage/idempotency/call.ts'
import { slotsText } from '../storage/slots/slot-text.ts'
import { carriedRows, type Side } from '../storage/slots/store/carried.ts'
import {
  cancelExport,
  confirmExport,
  countOpen,
  exportSlots,
  isStill,
  type Move,
  type OpenWork,
  type Reseal,
  type SlotExport,
  stopSlots,
} from '../storage/slots/store/export-slots.ts'
import { importSlots, reserveSlots, unreserveSlots } from '../storage/slots/store/import-slots.ts'
import { findTaken, readMoves, standing } from '../storage/slots/store/known-moves.ts'
import { holdMove } from '../storage/slots/store/move-lease.ts'

/** One shard of a move, as a command opens it. */
export type MovingShard = {
  id: string
  db: Db & { drizzle: PgDirect }
  ids: Ids
  /** Sealers under the key of its signer, of stored answers and of secrets of webhooks. */
  sealers: { calls: Sealer; webhooks: Sealer }
  /** The least deposit that it credits. */
  minNusd: Nusd
}

/** The steps in their order. After each, the next call goes on from there. */
export const moveSteps = ['stopped', 'expected', 'still', 'taken_out', 'taken_in', 'gone'] as const
export type MoveStep = (typeof moveSteps)[number]

export type MoveContext = {
  from: MovingShard
  to: MovingShard
  slots: readonly number[]
  clock: Clock
  /** How long open runs may take to end, in ms. */
  waitMs: number
  /** Called after each step. */
  tell?: (step: MoveStep) => void
}

export type MoveOutcome =
  | ({ moved: true; move: string } & SlotExport)
  /** Given up, because this was still open: everything is as before. */
  | ({ moved: false; move: string } & OpenWork)

/** Between two looks at what is still open, in ms. */
const lookMs = 200

const sideOf = ({ db }: MovingShard): Side => ({ pg: db.drizzle, tables: db.tables })

/**
 * Moves slots, or goes on with a move of them that was cut off. From `stopped` to `gone` the
 * accounts get 503 with Retry-After. Before `taken_out` the move can be given up, afterwards only
 * finished. Money is nowhere twice: it leaves the one ledger before it comes into the other.
 * @throws Error that says why these slots cannot move
 */
export async function moveSlots(moving: MoveContext): Promise<MoveOutcome> {
  await forgoGivenUp(moving)
  const move = await findMove(moving)
  const held = await Promise.all(
    [moving.from, moving.to].map(async ({ db }) =>
      holdMove(db, await openLeaseClock(db, moving.clock), move.id),
    ),
  )
  return goOn(moving, move).finally(() => Promise.all(held.map((release) => release())))
}

async function goOn(moving: MoveContext, move: FoundMove): Promise<MoveOutcome> {
  const { from, to, clock, tell = () => {} } = moving
  const [source, target] = [sideOf(from), sideOf(to)]
  const { isLeft } = move
  const now = () => clock.now()
  const except = [sponsorAccount]
  const done = async (step: MoveStep, side: MovingShard): Promise<void> => {
    await side.db.notices?.tell('slots')
    tell(step)
  }
  if (!isLeft) {
    if (move.isNew) await stopSlots(source, move, { now: now(), except })
    await done('stopped', from)
    await reserveSlots(target, move, { now: now(), except }).catch(async (error: unknown) => {
      await cancelExport(source, move, now())
      throw error
    })
    await done('expected', to)
    const open = await waitUntilTaken(moving, move, tell)
    if (open) {
      await giveUp(moving, move)
      return { moved: false, move: move.id, ...open }
    }
  }
  await done('taken_out', from)
  const taken = await findTaken(source, move.id)
  if (!taken) throw new Error(`${move.id} took nothing out`)
  await importSlots(target, move, {
    now: now(),
    taken,
    rows: carriedRows(source.pg, source.tables, move.id),
    minNusd: to.minNusd,
    audit: to.ids.make('req'),
  })
  await done('taken_in', to)
  await confirmExport(source, move, now())
  await done('gone', from)
  return { moved: true, move: move.id, ...taken }
}

/** Gives a move up before anything was taken out. False if it was. */
export async function giveUp({ from, to, clock }: MoveContext, move: Move): Promise<boolean> {
  if (!(await cancelExport(sideOf(from), move, clock.now()))) return false
  await unreserveSlots(sideOf(to), move, clock.now())
  await from.db.notices?.tell('slots')
  await to.db.notices?.tell('slots')
  return true
}

/** A crash can come between both sides of a move that is given up: the other shard still waits. */
async function forgoGivenUp({ from, to, clock }: MoveContext): Promise<void> {
  const [left, expected] = await Promise.all([from, to].map(movesOf))
  const stayed = new Set(left?.filter(({ state }) => state === 'stayed').map(({ id }) => id))
  for (const { id, state } of expected ?? []) {
    if (state !== 'arriving' || !stayed.has(id)) continue
    await unreserveSlots(sideOf(to), { id, from: from.id }, clock.now())
  }
}

const movesOf = ({ db }: MovingShard) => db.read((q) => readMoves(db, q))

type FoundMove = Move & { isNew: boolean; isLeft: boolean }

/** The move that these slots are in, or a new one. @throws Error unless all are in the same */
export async function findMove({ from, to, slots }: MoveContext): Promise<FoundMove> {
  const names = { slots, from: from.id, to: to.id }
  const rows = await standing(sideOf(from), slots)
  const moving = rows.filter(({ state }) => state === 'leaving' || state === 'left')
  const [first] = moving
  const elsewhere = rows.find(({ state }) => state === 'gone' || state === 'arriving')
  if (elsewhere) {
    throw new Error(`the slot ${elsewhere.slot} is of the shard ${elsewhere.shard}, not ${from.id}`)
  }
  if (!first) return { id: from.ids.make('mov'), ...names, isNew: true, isLeft: false }
  if (moving.length !== slots.length || moving.some(({ move }) => move !== first.move)) {
    const own = moving.filter(({ move }) => move === first.move).map(({ slot }) => slot)
    throw new Error(`a move of the slots ${slotsText(own)} is not finished: name these`)
  }
  if (first.peer !== to.id) {
    throw new Error(
      `these slots are on their way to ${first.peer}: finish that move, or give it up`,
    )
  }
  return { id: first.move, ...names, isNew: false, isLeft: first.state === 'left' }
}

/** Waits until nothing is open and takes the slots out; returns what is open when time is over. */
async function waitUntilTaken(
  { from, to, clock, waitMs }: MoveContext,
  move: Move,
  tell: (step: MoveStep) => void,
): Promise<OpenWork | undefined> {
  const source = sideOf(from)
  const until = clock.monotonic() + waitMs
  for (;;) {
    const open = await countOpen(source, move, clock.now())
    if (isStill(open)) {
      tell('still')
      const [now, audit] = [clock.now(), from.ids.make('req')]
      if (await exportSlots(source, move, { now, reseal: resealed(from, to), audit }))
        return undefined
    }
    if (clock.monotonic() >= until) return open
    await Bun.sleep(lookMs)
  }
}

/** Each shard has a signer of its own, from whose key follows what its database seals. */
const resealed =
  (from: MovingShard, to: MovingShard): Reseal =>
  (kind, text) => {
    const row: Record<string, unknown> = JSON.parse(text)
    const place = `${row[kind === 'calls' ? 'scope' : 'id']}`
    const again = (sealed: unknown): string | null => {
      if (typeof sealed !== 'string') return null
      const bytes = new Uint8Array(Buffer.from(sealed.slice(2), 'hex'))
      const opened = from.sealers[kind].open(bytes, place)
      // A call that these keys cannot open stays made, without its answer.
      if (opened === undefined) return '\\x'
      return `\\x${Buffer.from(to.sealers[kind].seal(opened, place)).toString('hex')}`
    }
    if (kind === 'calls') return JSON.stringify({ ...row, reply: again(row['reply']) })
    const secrets = { secret: again(row['secret']), old_secret: again(row['old_secret']) }
    return JSON.stringify({ ...row, ...secrets })
  }
