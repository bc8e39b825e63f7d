/** The side that a slot comes to: refuses until it has everything, then serves. */
import { type SQL, sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Millis } from '../../../kernel/clock.ts'
import type { Nusd } from '../../../kernel/money.ts'
import type { Tables } from '../../db/schema/schema.ts'
import {
  ask,
  type CarriedRow,
  digestOf,
  identity,
  isIn,
  list,
  lockGate,
  type QueryRunner,
  type Side,
} from './carried.ts'
import { type Kind, type Move, note, type SlotExport } from './export-slots.ts'

/** Makes ready for slots: until they came, or the move was given up, all of theirs is refused. */
export async function reserveSlots(
  { pg, tables }: Side,
  { id, slots, from, to }: Move,
  { now, except }: { now: Millis; except: readonly string[] },
): Promise<void> {
  const { accounts, slots: known, slotMoves } = tables
  await pg.transaction(async (tx) => {
    await lockGate(tx, tables)
    const there = await ask(tx, sql`select id from ${slotMoves} where id = ${id}`)
    if (there.length > 0) return
    const [strange] = await ask<{ id: string }>(
      tx,
      sql`select id from ${accounts} where left_at is null and ${isIn(sql`id`, slots)}
        and id not in (${list(except)}) limit 1`,
    )
    if (strange) throw new Error(`the shard ${to} already has the account ${strange.id}`)
    for (const slot of slots) {
      await ask(
        tx,
        sql`insert into ${known} (slot, shard, state, move)
          values (${slot}, ${to}, 'arriving', ${id}) on conflict (slot) do update
          set shard = excluded.shard, state = excluded.state, move = excluded.move
          where slots.state = 'gone'`,
      )
    }
    const taken = await ask(tx, sql`select slot from ${known} where move = ${id}`)
    if (taken.length !== slots.length) {
      throw new Error(`the shard ${to} has one of these slots, or another move brings it there`)
    }
    await ask(
      tx,
      sql`insert into ${slotMoves} (id, way, peer, slots, state, accounts, amount, begun_at)
        values (${id}, 'in', ${from}, ${JSON.stringify(slots)}, 'arriving', 0, 0, ${now})`,
    )
  })
}

/** Stops waiting for slots that stay where they were. */
export async function unreserveSlots(
  { pg, tables }: Side,
  { id, from }: Pick<Move, 'id' | 'from'>,
  now: Millis,
) {
  const { slots, slotMoves } = tables
  await pg.transaction(async (tx) => {
    await lockGate(tx, tables)
    await ask(
      tx,
      sql`update ${slots} set state = 'gone', shard = ${from}
        where move = ${id} and state = 'arriving'`,
    )
    await ask(
      tx,
      sql`update ${slotMoves} set state = 'stayed', ended_at = ${now}
        where id = ${id} and state = 'arriving'`,
    )
  })
}

type ImportSource = {
  now: Millis
  taken: SlotExport
  rows: AsyncIterable<readonly CarriedRow[]>
  /** The least deposit that is credited. */
  minNusd: Nusd
  audit: string
}

/**
 * Takes everything in and serves the slots, in one transaction. Does nothing the second time.
 * @throws Error if what came is not what left
 */
export async function importSlots(
  { pg, tables }: Side,
  move: Move,
  bringing: ImportSource,
): Promise<void> {
  const { slots, slotMoves, slotMoveRows } = tables
  const { now, taken, rows, audit } = bringing
  await pg.transaction(async (tx) => {
    await lockGate(tx, tables)
    const [own] = await ask<{ state: string }>(
      tx,
      sql`select state from ${slotMoves} where id = ${move.id}`,
    )
    if (own?.state === 'here') return
    if (own?.state !== 'arriving') throw new Error('the other shard does not wait for this move')
    const digest = digestOf(move.id)
    for await (const page of rows) {
      digest.add(page)
      const text = JSON.stringify(page.map((row) => ({ move: move.id, ...row })))
      await ask(
        tx,
        sql`insert into ${slotMoveRows} select * from
          json_populate_recordset(null::${slotMoveRows}, ${text}::text::json)`,
      )
    }
    if (digest.hex() !== taken.digest) throw new Error('what came is not what left: run it again')
    await unpack(tx, tables, move, bringing)
    const [sum] = await ask<{ amount: string }>(
      tx,
      sql`select coalesce(sum(amount), 0)::text as amount from ${tables.transfers}
        where ref = ${move.id} and kind = 'move'`,
    )
    if (sum?.amount !== String(taken.amount)) {
      throw new Error(`${sum?.amount} nUSD came, but ${taken.amount} left: nothing was stored`)
    }
    await ask(tx, sql`update ${slots} set state = 'here' where move = ${move.id}`)
    await ask(
      tx,
      sql`update ${slotMoves} set state = 'here', digest = ${taken.digest}, ended_at = ${now},
        accounts = ${taken.accounts}, amount = ${String(taken.amount)}::bigint
        where id = ${move.id}`,
    )
    await ask(tx, sql`delete from ${slotMoveRows} where move = ${move.id}`)
    await note(tx, tables, { audit, now, move: move.id, action: 'slot.arrive', detail: taken })
  })
}

/** The rows of a kind that came, as rows of its table. */
const came = (t: Tables, table: SQLiteTable, { id }: Move, kind: Kind): SQL =>
  sql`(select one.* from ${t.slotMoveRows} as packed,
    json_populate_record(null::${table}, packed.row::json) as one
    where packed.move = ${id} and packed.kind = ${kind})`

async function unpack(tx: QueryRunner, t: Tables, move: Move, { now, minNusd }: ImportSource) {
  const of = (table: SQLiteTable, kind: Kind) => came(t, table, move, kind)
  await bringAccounts(tx, t, move, now)
  const own = sql`account_id in (select id from ${of(t.accounts, 'accounts')} as a)`
  const whole: [SQLiteTable, Kind][] = [
    [t.keys, 'keys'],
    [t.subscriptions, 'subscriptions'],
    [t.accountSettings, 'settings'],
    [t.sessions, 'sessions'],
    [t.members, 'members'],
    [t.invitations, 'invitations'],
    [t.webhooks, 'webhooks'],
  ]
  for (const [table, kind] of whole) {
    // This shard may have kept older rows.
    await ask(tx, sql`delete from ${table} where ${own}`)
    await ask(tx, sql`insert into ${table} select * from ${of(table, kind)} as p`)
  }
  const added: [SQLiteTable, Kind][] = [
    [t.keySecrets, 'secrets'],
    [t.events, 'events'],
    [t.webhookDeliveries, 'deliveries'],
    [t.idempotentCalls, 'calls'],
  ]
  for (const [table, kind] of added) {
    await ask(
      tx,
      sql`insert into ${table} select * from ${of(table, kind)} as p on conflict do nothing`,
    )
  }
  await bringWindows(tx, t, of(t.keyWindows, 'windows'))
  await bringPassports(tx, t, of(t.passports, 'passports'), own)
  await bringDeposits(tx, t, move, minNusd)
}

/** Opens the accounts, or opens them again, and books their balances in. */
async function bringAccounts(tx: QueryRunner, t: Tables, move: Move, now: Millis): Promise<void> {
  const p = came(t, t.accounts, move, 'accounts')
  await ask(
    tx,
    sql`insert into ${t.accounts} (id, balance, held, status, created_at, plan, plan_until, moves,
        moved_at, low_balance, exhausted_at, tells_runs, event_place, paid_in, free_day,
        free_writes, free_bytes, unpaid_runs)
      select id, balance, 0, status, created_at, plan, plan_until, (balance > 0)::int,
        case when balance > 0 then ${now}::bigint else 0 end, low_balance, exhausted_at,
        tells_runs, event_place, paid_in, free_day, free_writes, free_bytes,
        unpaid_runs
      from ${p} as p
      on conflict (id) do update set balance = excluded.balance, status = excluded.status,
        plan = excluded.plan, plan_until = excluded.plan_until,
        moves = accounts.moves + excluded.moves,
        moved_at = greatest(accounts.moved_at, excluded.moved_at),
        low_balance = excluded.low_balance, exhausted_at = excluded.exhausted_at,
        tells_runs = excluded.tells_runs,
        event_place = greatest(accounts.event_place, excluded.event_place),
        paid_in = excluded.paid_in, free_day = excluded.free_day,
        free_writes = excluded.free_writes, free_bytes = excluded.free_bytes,
        unpaid_runs = excluded.unpaid_runs,
        slot_move = null, left_at = null`,
  )
  await ask(
    tx,
    sql`insert into ${t.transfers}
        (account_id, ref, kind, source, target, amount, at, seq, balance)
      select a.id, ${move.id}, 'move', 'shards', 'user', a.balance, a.moved_at, a.moves, a.balance
      from ${t.accounts} as a where a.balance > 0 and a.id in (select id from ${p} as p)`,
  )
}

/** Counts towards caps the amounts that keys spent elsewhere, and not as spent here. */
async function bringWindows(tx: QueryRunner, t: Tables, p: SQL): Promise<void> {
  await ask(
    tx,
    sql`insert into ${t.carriedWindows} (key_id, window_start, amount)
      select p.key_id, p.window_start,
        p.spent - coalesce(w.spent, 0) + coalesce(c.amount, 0)
      from ${p} as p
      left join ${t.keyWindows} as w
        on w.key_id = p.key_id and w.window_start = p.window_start
      left join ${t.carriedWindows} as c
        on c.key_id = p.key_id and c.window_start = p.window_start and w.key_id is not null
      on conflict (key_id, window_start) do update set amount = excluded.amount`,
  )
  await ask(
    tx,
    sql`insert into ${t.keyWindows} select * from ${p} as p
      on conflict (key_id, window_start) do update set limit_nusd = excluded.limit_nusd,
        spent = excluded.spent, told = excluded.told`,
  )
}

/** A profile comes along; what it did before stays in the record of the shard it left. */
async function bringPassports(tx: QueryRunner, t: Tables, p: SQL, own: SQL): Promise<void> {
  await ask(
    tx,
    sql`insert into ${t.passports} (handle, id, account_id, display_name, kind, bio, links, status,
        owner_shown, created_at, updated_at, published_at, retired_at,
        runs, succeeded, spent, active_days, public_receipts)
      select handle, id, account_id, display_name, kind, bio, links, status,
        owner_shown, created_at, updated_at, published_at, retired_at, 0, 0, 0, 0, 0
      from ${p} as p
      on conflict (handle) do update set display_name = excluded.display_name,
        kind = excluded.kind, bio = excluded.bio, links = excluded.links,
        status = excluded.status, owner_shown = excluded.owner_shown,
        updated_at = excluded.updated_at, published_at = excluded.published_at,
        retired_at = excluded.retired_at
        where passports.account_id = excluded.account_id`,
  )
  // A handle is unique in its shard: where another account has it, keys name it no more.
  await ask(
    tx,
    sql`update ${t.keys} set passport = '' where ${own} and passport <> '' and not exists
      (select 1 from ${t.passports} as o
        where o.handle = keys.passport and o.account_id = keys.account_id)`,
  )
}

/**
 * A transfer to the treasury is seen by all shards and credited by one: by this one if the other
 * had not judged it, or handed it over before it was credited.
 */
async function bringDeposits(tx: QueryRunner, t: Tables, move: Move, minNusd: Nusd): Promise<void> {
  const p = came(t, t.deposits, move, 'deposits')
  const same = sql`${identity(sql`deposits`)} = ${identity(sql`p`)}`
  await ask(
    tx,
    sql`update ${t.deposits} set status = 'detected', reason = null from ${p} as p
      where ${same} and deposits.status = 'ignored' and deposits.reason = 'other_shard'`,
  )
  await ask(
    tx,
    sql`insert into ${t.deposits} select * from ${p} as p where not exists
      (select 1 from ${t.deposits} where ${same})`,
  )
  const judged = sql`select row::json #>> '{}' from ${t.slotMoveRows}
    where move = ${move.id} and kind = 'judged'`
  const min = sql`${String(minNusd)}::bigint`
  await ask(
    tx,
    sql`update ${t.deposits} set
        status = case when amount_nusd >= ${min} and amount_nusd > 0 then 'detected'
          else 'ignored' end,
        reason = case when amount_nusd is null then 'above_bounds'
          when amount_nusd >= ${min} and amount_nusd > 0 then null else 'below_minimum' end
      where status = 'ignored' and reason = 'other_shard'
        and ${isIn(sql`from_address`, move.slots)}
        and ${identity(sql`deposits`)} not in (${judged})`,
  )
}
