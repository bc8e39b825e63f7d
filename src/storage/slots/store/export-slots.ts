/** The side that a slot leaves: stops its accounts, takes their rows out, and refuses for ever. */
import { type SQL, sql } from 'drizzle-orm'
import type { Millis } from '../../../kernel/clock.ts'
import type { Nusd } from '../../../kernel/money.ts'
import type { Tables } from '../../db/schema/schema.ts'
import {
  ask,
  carriedRows,
  digestOf,
  identity,
  isIn,
  list,
  lockGate,
  type QueryRunner,
  type Side,
} from './carried.ts'

/** A move of slots between two shards. */
export type Move = { id: string; slots: readonly number[]; from: string; to: string }

/** The sums of what a move took out. */
export type SlotExport = { digest: string; accounts: number; amount: Nusd }

/** The runs, unsure deposits and members from outside that keep the slots where they are. */
export type OpenWork = { runs: number; deposits: number; members: number }

export const isStill = ({ runs, deposits, members }: OpenWork): boolean =>
  runs + deposits + members === 0

/** Seals again what the keys of the leaving shard sealed: a row of a table, as JSON. */
export type Reseal = (kind: 'webhooks' | 'calls', row: string) => string

/** Begins a move: from its COMMIT on nothing is held of these accounts, on any node. */
export async function stopSlots(
  { pg, tables }: Side,
  { id, slots, from, to }: Move,
  { now, except }: { now: Millis; except: readonly string[] },
): Promise<void> {
  const { accounts, slots: known, slotMoves } = tables
  await pg.transaction(async (tx) => {
    await lockGate(tx, tables)
    const own = sql`${isIn(sql`id`, slots)} and id not in (${list(except)})`
    // In the order in which the ledger locks them.
    await ask(tx, sql`select id from ${accounts} where ${own} order by id for update`)
    await ask(tx, sql`update ${accounts} set slot_move = ${id} where ${own}`)
    for (const slot of slots) {
      await ask(
        tx,
        sql`insert into ${known} (slot, shard, state, move)
          values (${slot}, ${from}, 'leaving', ${id}) on conflict (slot) do update
          set shard = excluded.shard, state = excluded.state, move = excluded.move
          where slots.state in ('here', 'stayed')`,
      )
    }
    const taken = await ask(tx, sql`select slot from ${known} where move = ${id}`)
    if (taken.length !== slots.length) throw new Error('another move has one of these slots')
    await ask(
      tx,
      sql`insert into ${slotMoves} (id, way, peer, slots, state, accounts, amount, begun_at)
        values (${id}, 'out', ${to}, ${JSON.stringify(slots)}, 'leaving', 0, 0, ${now})`,
    )
  })
}

/** Gives a move up. False once its rows were taken out: then it can only be finished. */
export async function cancelExport(
  { pg, tables }: Side,
  { id }: Move,
  now: Millis,
): Promise<boolean> {
  const { accounts, slots, slotMoves } = tables
  return pg.transaction(async (tx) => {
    await lockGate(tx, tables)
    const found = await ask(
      tx,
      sql`update ${slots} set state = 'stayed' where move = ${id} and state = 'leaving'
        returning slot`,
    )
    if (found.length === 0) return false
    const own = sql`slot_move = ${id}`
    await ask(tx, sql`select id from ${accounts} where ${own} order by id for update`)
    await ask(tx, sql`update ${accounts} set slot_move = null where ${own}`)
    await ask(tx, sql`update ${slotMoves} set state = 'stayed', ended_at = ${now} where id = ${id}`)
    return true
  })
}

/** Counts what keeps the slots of a move from leaving. */
export async function countOpen(
  { pg, tables }: { pg: QueryRunner; tables: Tables },
  { id, slots }: Pick<Move, 'id' | 'slots'>,
  now: Millis,
): Promise<OpenWork> {
  const { accounts, openRuns, deposits, members } = tables
  const [from, account, wallet] = [sql`from_address`, sql`account_id`, sql`wallet`]
  // A deposit that was reversed can come back; one that was claimed has two accounts.
  const unsure = sql`(status = 'credited' or (status = 'reversed' and seen_at > ${now - dayMs})
    or (status in ('detected', 'confirming', 'orphaned') and account_id <> from_address))
    and (${isIn(from, slots)} or ${isIn(account, slots)})`
  const apart = sql`${isIn(account, slots)} <> ${isIn(wallet, slots)}`
  const [found] = await ask<Record<keyof OpenWork, number>>(
    pg,
    sql`select
      (select count(*)::int from ${openRuns} where account_id in
        (select id from ${accounts} where slot_move = ${id})) as runs,
      (select count(*)::int from ${deposits} where ${unsure}) as deposits,
      (select count(*)::int from ${members} where ${apart}) as members`,
  )
  return found ?? { runs: 0, deposits: 0, members: 0 }
}

const dayMs = 86_400_000

/**
 * Takes the slots out in one transaction: their rows go into the move, their money to the side
 * `shards`, and from its COMMIT on this database never spends for them again. Undefined while
 * something is still open.
 */
export async function exportSlots(
  side: Side,
  move: Move,
  { now, reseal, audit }: { now: Millis; reseal: Reseal; audit: string },
): Promise<SlotExport | undefined> {
  const { pg, tables } = side
  return pg.transaction(async (tx) => {
    await lockGate(tx, tables)
    const { accounts, slotMoves, slots } = tables
    const still = await ask(
      tx,
      sql`select slot from ${slots} where move = ${move.id} and state = 'leaving'`,
    )
    if (still.length !== move.slots.length) throw new Error('this move was given up meanwhile')
    const own = sql`slot_move = ${move.id}`
    // With these locks nothing else of the accounts changes.
    const locked = await ask<{ held: string }>(
      tx,
      sql`select held::text from ${accounts} where ${own} order by id for update`,
    )
    const open = await countOpen({ pg: tx, tables }, move, now)
    if (!isStill(open) || locked.some(({ held }) => held !== '0')) return undefined
    await pack(tx, tables, move, now, reseal)
    const digest = digestOf(move.id)
    for await (const page of carriedRows(tx, tables, move.id)) digest.add(page)
    const [sum] = await ask<{ amount: string }>(
      tx,
      sql`select coalesce(sum(balance), 0)::text as amount from ${accounts} where ${own}`,
    )
    const taken = {
      digest: digest.hex(),
      accounts: locked.length,
      amount: BigInt(sum?.amount ?? 0),
    }
    await empty(tx, tables, move, now)
    await ask(tx, sql`update ${slots} set state = 'left' where move = ${move.id}`)
    await ask(
      tx,
      sql`update ${slotMoves} set state = 'left', digest = ${taken.digest},
        accounts = ${taken.accounts}, amount = ${String(taken.amount)}::bigint
        where id = ${move.id}`,
    )
    await note(tx, tables, { audit, now, move: move.id, action: 'slot.leave', detail: taken })
    return taken
  })
}

/** Adds the entry of the operator's audit trail. */
export async function note(
  tx: QueryRunner,
  { auditEntries }: Tables,
  what: { audit: string; now: Millis; move: string; action: string; detail: SlotExport },
): Promise<void> {
  const { digest, accounts, amount } = what.detail
  const detail = JSON.stringify({ digest, accounts, amount_nusd: String(amount) })
  await ask(
    tx,
    sql`insert into ${auditEntries} (id, at, actor, action, account_id, subject, detail)
      values (${what.audit}, ${what.now}, 'operator', ${what.action}, 'operator', ${what.move},
        ${detail})`,
  )
}

/** Finds the rows of these accounts. Those of which nothing stays here say `goes`. */
function parts(t: Tables, { id, slots }: Move, now: Millis) {
  const own = sql`account_id in (select id from ${t.accounts} where slot_move = ${id})`
  const ofKeys = sql`key_id in (select id from ${t.keys} where ${own})`
  const hooks = sql`webhook_id in (select id from ${t.webhooks} where ${own})`
  const called = sql`run_id in (select id from ${t.runs} where ${own}) and until > ${now}`
  const unclaimed = sql`${isIn(sql`from_address`, slots)} and (status in ('detected',
    'confirming') or (status = 'orphaned' and credits = 0))`
  const told = sql`(routed_at is null or id in
    (select event_id from ${t.webhookDeliveries} where ${hooks}))`
  return {
    accounts: { table: t.accounts, where: sql`slot_move = ${id}`, goes: false },
    // They stay for the lists of what was run here, without a secret.
    keys: { table: t.keys, where: own, goes: false },
    secrets: { table: t.keySecrets, where: ofKeys, goes: true },
    windows: { table: t.keyWindows, where: ofKeys, goes: false },
    subscriptions: { table: t.subscriptions, where: own, goes: true },
    settings: { table: t.accountSettings, where: own, goes: true },
    sessions: { table: t.sessions, where: own, goes: true },
    members: { table: t.members, where: own, goes: true },
    invitations: { table: t.invitations, where: own, goes: true },
    passports: { table: t.passports, where: own, goes: false },
    events: { table: t.events, where: sql`${own} and ${told}`, goes: false },
    deliveries: { table: t.webhookDeliveries, where: hooks, goes: true },
    webhooks: { table: t.webhooks, where: own, goes: true },
    calls: { table: t.idempotentCalls, where: called, goes: true },
    deposits: { table: t.deposits, where: unclaimed, goes: true },
  }
}

export type Kind = keyof ReturnType<typeof parts>

/** Writes what goes along into the move. */
async function pack(tx: QueryRunner, t: Tables, move: Move, now: Millis, reseal: Reseal) {
  let place = 0
  const add = async (kind: string, from: SQL): Promise<void> => {
    const added = await ask(
      tx,
      sql`insert into ${t.slotMoveRows} (move, place, kind, row)
        select ${move.id}, ${place}::int + row_number() over (order by row), ${kind}, row
        from (${from}) as packed returning place`,
    )
    place += added.length
  }
  const all = parts(t, move, now)
  for (const [kind, { table, where }] of Object.entries(all)) {
    await add(kind, sql`select to_json(one)::text as row from ${table} as one where ${where}`)
  }
  // Transfers on the chain that this shard has judged: no other one credits them again.
  const judged = sql`${isIn(sql`from_address`, move.slots)} and not (${all.deposits.where})`
  await add(
    'judged',
    sql`select to_json(${identity(sql`one`)})::text as row from ${t.deposits} as one
      where ${judged}`,
  )
  for (const kind of ['webhooks', 'calls'] as const) {
    const sealed = await ask<{ place: number; row: string }>(
      tx,
      sql`select place, row from ${t.slotMoveRows} where move = ${move.id} and kind = ${kind}`,
    )
    for (const { place: at, row } of sealed) {
      await ask(
        tx,
        sql`update ${t.slotMoveRows} set row = ${reseal(kind, row)}
          where move = ${move.id} and place = ${at}`,
      )
    }
  }
}

/** Books the balances out, and deletes what lives on at the other shard. */
async function empty(tx: QueryRunner, t: Tables, move: Move, now: Millis): Promise<void> {
  const own = sql`slot_move = ${move.id}`
  await ask(
    tx,
    sql`insert into ${t.transfers}
        (account_id, ref, kind, source, target, amount, at, seq, balance)
      select id, ${move.id}, 'move', 'user', 'shards', balance, greatest(moved_at, ${now}::bigint),
        moves + 1, 0 from ${t.accounts} where ${own} and balance > 0`,
  )
  const all = parts(t, move, now)
  // An event can be on its way to the operator too.
  await ask(
    tx,
    sql`delete from ${t.events} where ${all.events.where} and id not in
      (select event_id from ${t.webhookDeliveries} where not (${all.deliveries.where}))`,
  )
  for (const { table, where, goes } of Object.values(all)) {
    if (goes) await ask(tx, sql`delete from ${table} where ${where}`)
  }
  await ask(
    tx,
    sql`update ${t.passports} set status = 'hidden' where status = 'public' and account_id in
      (select id from ${t.accounts} where ${own})`,
  )
  await ask(
    tx,
    sql`update ${t.accounts} set moves = moves + (balance > 0)::int, balance = 0,
      moved_at = greatest(moved_at, case when balance > 0 then ${now}::bigint else 0 end),
      left_at = ${now} where ${own}`,
  )
}

/** The other shard has all: from now on this one sends clients there. */
export async function confirmExport({ pg, tables }: Side, { id, to }: Move, now: Millis) {
  const { slots, slotMoves, slotMoveRows } = tables
  await pg.transaction(async (tx) => {
    await lockGate(tx, tables)
    await ask(
      tx,
      sql`update ${slots} set state = 'gone', shard = ${to} where move = ${id} and state = 'left'`,
    )
    await ask(tx, sql`update ${slotMoves} set state = 'gone', ended_at = ${now} where id = ${id}`)
    await ask(tx, sql`delete from ${slotMoveRows} where move = ${id}`)
  })
}
