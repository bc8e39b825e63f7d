/** Compares what a receiver took with what a server committed. */
import { openSqlite } from '../src/storage/db/engine/sqlite.ts'
import { pictureOf } from '../test/ledger/office.ts'
import { balanceFaults } from '../test/simulation/balance-told.ts'
import { causesOf, eventDifferences, nameOf } from '../test/simulation/event-causes.ts'
import type { Arrival } from '../test/support/event-receiver.ts'
import { claims } from '../test/support/judges.ts'

export type Verdict = {
  faults: string[]
  /** Causes that were committed, each of which has an event. */
  causes: number
  /** Messages that came again after they were taken: their outcome was lost with the server. */
  repeats: number
}

/** The accounts to judge, with their thresholds, and their keys that are older than webhooks. */
export type Judging = { accounts: { account: string; low: bigint | null }[]; olderKeys: string[] }

/**
 * Every committed cause has its event, once by id and at least once by message; no event lacks one;
 * a message that comes again is the same; those of a subject come in their order.
 */
export async function judgeEvents(
  file: string,
  arrivals: readonly Arrival[],
  { accounts, olderKeys }: Judging,
): Promise<Verdict> {
  const byId = Map.groupBy(arrivals, ({ id }) => id)
  const faults = [...byId].flatMap(([id, all]) => messageFaults(id, all))
  const told = [...byId.values()].flatMap(([first]) => (first ? toEvent(first) : []))
  faults.push(...orderFaults(arrivals))
  const db = openSqlite(file, { readonly: true })
  try {
    const own = accounts.map(({ account }) => account)
    const wanted = (await causesOf(db)).filter(
      ({ account, name }) =>
        own.includes(account) &&
        // A webhook is not told of itself, and each account has one.
        !name.startsWith('webhook.created') &&
        !olderKeys.some((id) => name === `key.created ${id}`),
    )
    const found = told.flatMap((event) => nameOf(event) ?? [])
    const names = wanted.map(({ name }) => name)
    faults.push(...eventDifferences(names, found))
    const { transfers } = await pictureOf(db)
    for (const { account, low } of accounts) {
      const journal = transfers.filter(({ accountId }) => accountId === account)
      faults.push(
        ...balanceFaults({
          account,
          low,
          transfers: journal.sort((a, b) => a.seq - b.seq),
          told: told.filter(({ subject, type }) => subject === account && /^balance/.test(type)),
          // Its runs come one after the other, and each voucher pays for whole ones.
          wasRefused: () => false,
        }),
      )
    }
    const balances = told.length - found.length
    const taken = arrivals.filter(({ isTaken }) => isTaken).length
    return { faults, causes: wanted.length + balances, repeats: taken - byId.size }
  } finally {
    await db.close()
  }
}

function messageFaults(id: string, all: readonly Arrival[]): string[] {
  const { faults, claim } = claims(`${id} `)
  claim(new Set(all.map(({ body }) => body)).size === 1, 'has two bodies')
  claim(JSON.parse(all[0]?.body ?? '{}').id === id, 'names another id in its body')
  claim(
    all.every(({ isSigned }) => isSigned),
    'has a wrong signature',
  )
  claim(
    all.some(({ isTaken }) => isTaken),
    'was never taken',
  )
  return faults
}

/** The next event of a subject waits for the one before: no message comes again behind another. */
function orderFaults(arrivals: readonly Arrival[]): string[] {
  const faults: string[] = []
  for (const [subject, all] of Map.groupBy(arrivals, (one) => one.subject)) {
    const ids = all.map(({ id }) => id).filter((id, i, list) => id !== list[i - 1])
    if (new Set(ids).size < ids.length) faults.push(`an older event of ${subject} came again`)
    const times = all.map(({ body }) => String(JSON.parse(body).timestamp))
    if (times.some((at, i) => at < (times[i - 1] ?? ''))) faults.push(`${subject} is out of order`)
    const types = all.map(({ body }) => String(JSON.parse(body).type))
    if (types.includes('key.created') && types[0] !== 'key.created')
      faults.push(`${subject} was told before it was created`)
    if (types.includes('key.revoked') && types.at(-1) !== 'key.revoked')
      faults.push(`${subject} was told after it was revoked`)
  }
  return faults
}

function toEvent({ body, subject }: Arrival) {
  const { type, timestamp, data } = JSON.parse(body)
  return { type, subject, data, at: Date.parse(timestamp) }
}
