import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { auditStore } from '../../src/ledger/store/audit.ts'
import { readWholeLogs } from '../../src/proof/log/store/whole.ts'
import { openPostgres } from '../../src/storage/db/engine/postgres.ts'
import {
  grant,
  type Home,
  makeHome,
  makeKey,
  randomAccount,
  type Server,
} from '../support/binary.ts'
import { freePort } from '../support/free-port.ts'
import { pacedModels, startPacedUpstream } from '../support/paced-upstream.ts'
import { type EmptyDatabase, emptyDatabase } from '../support/postgres.ts'
import { until } from '../support/runs.ts'

/** Limits that nothing here runs into, and one name for both nodes, as behind a balancer. */
const shared = `
[limits]
rpm = 10_000_000
concurrency = 100_000

[[plans]]
id = "free"
limits = { rpm = 10_000_000, concurrency = 100_000 }
`

/** The name of the service that two nodes are. */
export const serviceName = 'https://gw.example'

export type Pair = Awaited<ReturnType<typeof startPair>>

/** Two executables on one PostgreSQL database, with one upstream and one signer's key. */
export async function startPair() {
  const database = await emptyDatabase()
  const upstream = await startPacedUpstream()
  const toml = `base_url = "${serviceName}"
database_url = "${database.url}"
${pacedModels(upstream.url)}
${shared}`
  const homes = [await makeHome(toml), await makeHome(toml)] as [Home, Home]
  const [first, second] = homes
  const a = await first.start({ port: freePort() })
  mkdirSync(second.data, { mode: 0o700 })
  copyFileSync(join(first.data, 'signer.key'), join(second.data, 'signer.key'))
  const b = await second.start({ port: freePort() })
  return {
    database,
    upstream,
    homes,
    nodes: [a, b] as [Server, Server],
    /** An account of its own with a key, and money in it. */
    async funded(usd: string, ...more: string[]) {
      const account = randomAccount()
      await grant(first, usd, account)
      return { account, key: await makeKey(first, { account }, ...more) }
    },
    async stop() {
      for (const home of homes) await home.remove()
      await upstream.stop()
      await database.drop()
    },
  }
}

/** Waits until no run is open and none waits for its number. */
export const untilNumbered = (
  { database }: { database: Pick<EmptyDatabase, 'url' | 'sql'> },
  ms = 60_000,
) =>
  until(
    'every run to be numbered',
    async () => {
      const [left] = await database.sql`
        select (select count(*) from open_runs) + (select count(*) from unnumbered_batches) as open`
      return Number(left.open) === 0
    },
    ms,
  )

/** What is wrong with the money and the log of a database, and with what belongs to both. */
export async function faultsIn({
  database,
}: {
  database: Pick<EmptyDatabase, 'url' | 'sql'>
}): Promise<string[]> {
  const db = openPostgres(database.url)
  try {
    const faults = await auditStore(db).faults(Date.now())
    const { faults: ofLog } = await readWholeLogs(db)
    const [counted] = await database.sql`
      select (select count(*) from runs) as runs,
             (select count(*) from log_leaves where kind = 0) as leaves,
             (select count(*) from runs where cost > 0) as costly,
             (select count(*) from journal where kind = 'run') as paid`
    const { runs, leaves, costly, paid } = counted
    if (runs !== leaves) faults.push(`${runs} runs, but ${leaves} receipts in the log`)
    if (costly !== paid) faults.push(`${costly} runs cost something, ${paid} were paid`)
    return [...faults, ...ofLog]
  } finally {
    await db.close()
  }
}
