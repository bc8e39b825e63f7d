/** The CPU of a paid run where many accounts and keys take turns, against one key of one. */
import { join } from 'node:path'
import { fingerprintOf, hashSecret, makeSecret } from '../src/access/keys/secret.ts'
import { sha256 } from '../src/kernel/hash.ts'
import { openSqlite } from '../src/storage/db/engine/sqlite.ts'
import type { AccountRow, KeyRow, TransferRow } from '../src/storage/db/schema/schema.ts'
import { insert } from '../src/storage/db/sql/query-steps.ts'
import { plainAccount, plainKey } from '../test/support/plain-key.ts'
import { plain } from './paid.ts'
import { cpuUs, interleave, median, type Pace } from './rounds.ts'
import type { Row } from './table.ts'
import { all, both, type Gateways, type Running, startCounterfoil } from './targets.ts'

type Crowd = { accounts: number; keys: number; gate: number }

const crowds: Crowd[] = [
  { accounts: 1000, keys: 1000, gate: 1.6 },
  { accounts: 1, keys: 10_000, gate: 2 },
]
const money = 1_000_000_000_000n
const atOnce = 1000

/** `folder` gets the data of a gateway for each crowd, so that each remembers its own alone. */
export async function measureCustomers(
  { stub, ...gateways }: Gateways & { stub: Running },
  { seconds, rounds }: Pace,
  folder: string,
): Promise<Row[]> {
  const started: Running[] = []
  const crowded = new Map<Crowd, Map<Running, Running>>()
  try {
    for (const crowd of crowds) {
      const own = new Map<Running, Running>()
      crowded.set(crowd, own)
      for (const gateway of all(gateways)) {
        const name = `${gateway.name} ${crowd.accounts}x${crowd.keys}`
        const place = { name, folder: join(folder, name), program: gateway.program }
        const running = await startCounterfoil(stub, place)
        started.push(running)
        own.set(gateway, { ...running, secrets: await addKeys(join(place.folder, 'data'), crowd) })
      }
    }
    const targets = [...all(gateways), ...[...crowded.values()].flatMap((own) => [...own.values()])]
    const load = plain(32, seconds)
    const results = await interleave('paid runs of many customers', { targets, load, rounds })
    const cpu = (target: Running | undefined) => (target ? median(results, target, cpuUs) : NaN)
    return [...crowded].map(
      ([{ accounts, keys, gate }, own]): Row => ({
        quantity: `CPU of a paid run, ${accounts} accounts with ${keys} keys, against one key`,
        ...both(gateways, (gateway) => cpu(own.get(gateway)) / cpu(gateway)),
        gate: ['≤', gate],
      }),
    )
  } finally {
    for (const one of started) await one.process.stop()
  }
}

/** Adds a crowd to the file of a server that runs, as another process may. Returns the secrets. */
async function addKeys(data: string, { accounts, keys }: Crowd): Promise<string[]> {
  const db = openSqlite(join(data, 'counterfoil.db'))
  const secrets = Array.from({ length: keys }, (_, at) =>
    makeSecret({ bytes: () => sha256(`bench customer ${at}`) }),
  )
  try {
    for (let from = 0; from < keys; from += atOnce) {
      const some = secrets.slice(from, from + atOnce).map((secret, i) => ({ secret, at: from + i }))
      await db.write(function* () {
        const { tables } = db
        const owners = some.filter(({ at }) => at < accounts)
        yield* insert(
          tables.accounts,
          owners.map(({ at }) => accountAt(at)),
        )
        yield* insert(
          tables.transfers,
          owners.map(({ at }) => grantAt(at)),
        )
        yield* insert(
          tables.keys,
          some.map(({ secret, at }) => keyAt(secret, at, accounts)),
        )
        yield* insert(
          tables.keySecrets,
          some.map(({ secret, at }) => ({
            hash: hashSecret(secret),
            keyId: keyIdAt(at),
            validUntil: null,
            selfRotated: false,
          })),
        )
      })
    }
  } finally {
    await db.close()
  }
  return secrets
}

const accountIdAt = (at: number): string =>
  `0x${Buffer.from(sha256(`bench customer ${at}`)).toString('hex', 0, 20)}`
const keyIdAt = (at: number): string => `key_${String(at).padStart(26, '0')}`

const accountAt = (at: number): AccountRow => ({
  ...plainAccount,
  id: accountIdAt(at),
  balance: money,
  moves: 1,
  paidIn: money,
})

/** The transfer that gave an account its money. */
const grantAt = (at: number): TransferRow => ({
  accountId: accountIdAt(at),
  ref: `bench-${at}`,
  kind: 'grant',
  source: 'grants',
  target: 'user',
  amount: money,
  at: 0,
  seq: 1,
  balance: money,
})

function keyAt(secret: string, at: number, accounts: number): KeyRow {
  const id = keyIdAt(at)
  return {
    ...plainKey,
    id,
    accountId: accountIdAt(at % accounts),
    parentId: null,
    lineage: [id],
    name: `customer-${at}`,
    fingerprint: fingerprintOf(hashSecret(secret)),
    capLimit: money,
    capWindow: 'lifetime',
    createdAt: Date.now(),
    expiresAt: Date.now() + 300 * 86_400_000,
  }
}
