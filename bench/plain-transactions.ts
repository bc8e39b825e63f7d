/** Connections of a client, as many as ours has. */
const connections = 16

/**
 * Paid runs on PostgreSQL as they are written first: a transaction for the hold and one for the
 * settle, each a conversation that locks its rows, looks at them and changes them.
 */
export async function openPlain(url: string, accounts: number) {
  const sql = new Bun.SQL({ url, max: connections })
  await sql`create table if not exists plain_accounts (id int primary key, balance bigint not null,
    held bigint not null)`
  await sql`create table if not exists plain_windows (key int primary key, spent bigint not null,
    held bigint not null)`
  await sql`create table if not exists plain_runs (id uuid primary key, account int not null,
    hold bigint not null, cost bigint, digest bytea)`
  await sql`create table if not exists plain_transfers (account int, ref uuid, amount bigint,
    balance bigint, primary key (account, ref))`
  for (let id = 0; id < accounts; id++) {
    await sql`insert into plain_accounts values (${id}, 1000000000000, 0) on conflict do nothing`
    await sql`insert into plain_windows values (${id}, 0, 0) on conflict do nothing`
  }

  const runOnce = async (turn: number): Promise<void> => {
    const id = turn % accounts
    const run = Bun.randomUUIDv7()
    await sql.begin(async (tx) => {
      const [account] = await tx`select * from plain_accounts where id = ${id} for update`
      const [window] = await tx`select * from plain_windows where key = ${id} for update`
      if (!account || !window || BigInt(account.balance) < 10_000n) throw new Error('no money')
      await tx`update plain_accounts set held = held + 10000 where id = ${id}`
      await tx`update plain_windows set held = held + 10000 where key = ${id}`
      await tx`insert into plain_runs values (${run}, ${id}, 10000, null, null)`
    })
    await sql.begin(async (tx) => {
      const [account] = await tx`select * from plain_accounts where id = ${id} for update`
      await tx`select * from plain_windows where key = ${id} for update`
      await tx`update plain_accounts set held = held - 10000, balance = balance - 28
        where id = ${id}`
      await tx`update plain_windows set held = held - 10000, spent = spent + 28 where key = ${id}`
      await tx`update plain_runs set cost = 28, digest = ${Buffer.alloc(32)} where id = ${run}`
      await tx`insert into plain_transfers values (${id}, ${run}, 28, ${account.balance})`
    })
  }
  return { runOnce, close: () => sql.close() }
}
