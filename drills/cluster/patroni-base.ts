/** The database of a shard as the documents say: Patroni behind haproxy behind PgBouncer. */
import { readFileSync } from 'node:fs'
import { spawnBalancer } from '../../test/packaging/balancer.ts'
import { freePort } from '../../test/support/free-port.ts'
import { pgbouncer, startPgBouncer } from '../../test/support/pgbouncer.ts'
import { until } from '../../test/support/runs.ts'
import { hasPatroni, type PatroniPair, startPatroniPair } from './patroni.ts'
import type { PgFarm, PgServer } from './postgres-server.ts'
import type { Undo } from './scene.ts'
import { hasHaproxy } from './shards.ts'

/** Whether all programs of such a database are installed. */
export const hasPatroniBase = hasPatroni && hasHaproxy && pgbouncer !== undefined

export type PatroniBase = { pair: PatroniPair; primary: PgServer; address: string }

/** Connections of PgBouncer to the primary. */
const poolSize = 20

export async function patroniBase({ programs, folder }: PgFarm, undo: Undo): Promise<PatroniBase> {
  const pair = await startPatroniPair(programs, folder)
  undo.push(pair.remove)
  const balanced = new URL(pair.primary.url)
  balanced.port = String(await balance(pair, undo))
  const pooler = await startPgBouncer({ server: balanced.href, poolSize, loginRetryS: 1 })
  undo.push(pooler.stop)
  const address = pooler.url(balanced.pathname.slice(1), '?prepare=false')
  return { pair, primary: pair.primary, address }
}

/** haproxy with the configuration that we give away. @returns the port at which it listens. */
async function balance({ places, primary }: PatroniPair, undo: Undo): Promise<number> {
  const port = freePort()
  let text = readFileSync('packaging/haproxy-patroni.cfg', 'utf8')
  text = text.replace('0.0.0.0:5432', `127.0.0.1:${port}`)
  for (const [i, place] of places.entries()) {
    const here = `10.0.0.2${i + 1}:5432 check port 8008`
    text = text.replace(here, `127.0.0.1:${place.port} check port ${place.restPort}`)
  }
  undo.push(spawnBalancer('haproxy', () => text).stop)
  const url = new URL(primary.url)
  url.port = String(port)
  // Until its first checks haproxy takes both servers for primaries.
  let inTurn = 0
  const isFound = async () => {
    inTurn = (await isPrimary(url.href)) ? inTurn + 1 : 0
    return inTurn >= 10
  }
  await until('haproxy to reach the primary alone', isFound, 20_000)
  return port
}

async function isPrimary(url: string): Promise<boolean> {
  const sql = new Bun.SQL({ url, max: 1, connectionTimeout: 2 })
  try {
    const [row] = await sql`select pg_is_in_recovery() as follows`
    return row.follows === false
  } catch {
    return false
  } finally {
    await sql.close()
  }
}
