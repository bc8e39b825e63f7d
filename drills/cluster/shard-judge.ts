/** What must hold of two shards: of their routes, ledgers and logs. */
import { join } from 'node:path'
import { slotOf } from '../../src/kernel/shard.ts'
import type { Home } from '../../test/support/binary.ts'
import type { Claim } from '../../test/support/judges.ts'
import type { Asker, Wish } from './clients.ts'
import { judgeAcknowledged, judgeDatabase } from './judge.ts'
import { granted, type Shard } from './shards.ts'

/** Every account is at home where the balancer sends it; a node of the other shard says where. */
export async function judgeRoutes(
  askers: readonly Asker[],
  { s3, s4, url }: { s3: Shard; s4: Shard; url: string },
  claim: Claim,
): Promise<void> {
  for (const { secret, shard } of askers) {
    const headers = { authorization: `Bearer ${secret}` }
    const right = await fetch(`${url}/v1/keys/self`, { headers })
    claim(right.status === 200, `a key of ${shard} was ${right.status} through the balancer`)
    const other = shard === 's3' ? s4 : s3
    const wrong = await other.nodes[0]?.call('/v1/keys/self', { key: secret })
    const named = wrong?.headers.get('x-counterfoil-shard')
    claim(
      wrong?.status === 421 && named === shard,
      `the other shard said ${wrong?.status} ${named}`,
    )
  }
}

/** The ledger and the log of a shard, its acknowledged runs, and whose accounts it has. */
export async function judgeShard({ id, primary }: Shard, asked: readonly Wish[], claim: Claim) {
  await judgeDatabase(primary, claim)
  const own = asked.filter(({ by }) => by.shard === id)
  await judgeAcknowledged(primary, own, claim)
  const strange = own.filter(({ paid }) => paid && !paid.runId.startsWith(`run_${id}`))
  claim(strange.length === 0, `${strange.length} runs of ${id} have ids of another shard`)
  const accounts = await primary.ask<{ id: string }>('select id from accounts')
  const foreign = accounts.filter((row) => slotOf(row.id) < 512 !== (id === 's3'))
  claim(foreign.length === 0, `${id} has ${foreign.length} accounts of other slots`)
}

/** The grants of both shards equal all balances and acknowledged runs, to the nano-dollar. */
export async function judgeSums(
  shards: readonly Shard[],
  { asked, accounts }: { asked: readonly Wish[]; accounts: number },
  claim: Claim,
): Promise<string> {
  let left = 0n
  for (const { primary } of shards) {
    const [row] = await primary.ask<{ sum: string }>(
      'select coalesce(sum(balance), 0)::text as sum from accounts',
    )
    left += BigInt(row?.sum ?? 0)
  }
  const spent = asked.reduce((sum, { paid }) => sum + BigInt(paid?.cost ?? 0), 0n)
  const all = granted * BigInt(accounts)
  claim(left + spent === all, `${left} nUSD are left and ${spent} spent of ${all}`)
  return `${spent} nUSD spent and ${left} left of ${all}`
}

export async function judgeLogs(home: Home, claim: Claim): Promise<string> {
  const map = join(home.folder, 'shards.toml')
  const { code, stdout } = await home.cli('audit', '--shards', map)
  const passed = stdout.match(/Every check passed: .*/g) ?? []
  claim(code === 0 && passed.length === 2, `the audit of both logs ended with ${code}: ${stdout}`)
  return `one audit of both logs: ${passed.map((line) => line.slice(20)).join(' ')}`
}
