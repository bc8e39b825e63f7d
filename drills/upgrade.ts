/**
 * An older build and this one on one PostgreSQL database behind haproxy, under load: node after
 * node is replaced by this build, then by the older one again.
 */
import { resolve } from 'node:path'
import { freePort } from '../test/binary/nodes.ts'
import { isInstalled, startBalancer } from '../test/packaging/balancer.ts'
import { binary, grant, makeKey, must } from '../test/support/binary.ts'
import { collectHeads, rootsOf } from './cluster/heads.ts'
import { judgeAcknowledged, judgeDatabase, judgeHeads, judgeReceipts } from './cluster/judge.ts'
import { type Node, startService } from './cluster/nodes.ts'
import { makePgFarm, type PgServer } from './cluster/postgres-server.ts'
import { stampOf } from './report.ts'
import { startReaders, startWriters, type Writer } from './upgrade-clients.ts'

type Claim = (isTrue: boolean, fault: string) => void
type Say = (line: string) => void

/** A while in which every node ran one build, and what came of it. */
export type Phase = { builds: string; runs: number; refused: Record<string, number>; reads: number }

const accountCount = 12
/** What each account begins with, and what a command adds to one of them in each phase. */
const granted = { first: 1000, more: 1 }
const nanos = 1_000_000_000n
/** How long builds serve together before the next node is replaced, in ms. */
const phaseMs = 8000

/** Which build each of the two nodes runs, one phase after the other. */
const plan = [
  ['older', 'older'],
  ['this', 'older'],
  ['this', 'this'],
  ['older', 'this'],
  ['older', 'older'],
] as const
type Build = (typeof plan)[number][number]

export async function drillUpgrade(older: string, say: Say) {
  if (!isInstalled('haproxy')) throw new Error('haproxy is missing: apt-get install haproxy')
  const faults: string[] = []
  const claim: Claim = (isTrue, fault) => void (isTrue || faults.push(fault))
  const undo: (() => Promise<unknown>)[] = []
  try {
    const farm = await makePgFarm()
    undo.push(() => farm.remove())
    const primary = await farm.primary()
    const programs: Record<Build, string> = { older: resolve(older), this: binary }
    const port = freePort()
    const baseUrl = `http://127.0.0.1:${port}`
    const service = await startService(primary.url, 2, { program: programs.older, baseUrl })
    undo.push(() => service.remove())
    const [first, second] = service.nodes as [Node, Node]
    const builds = { older: await must(first.home, 'version', '--json'), this: '' }
    const balancer = await startBalancer(
      'haproxy',
      'packaging/haproxy.cfg',
      service.nodes.map(({ server }) => server),
      { port, host: `127.0.0.1:${port}` },
    )
    undo.push(balancer.stop)
    const writers = await openAccounts(first)
    const load = startWriters(balancer.url, writers)
    const readers = startReaders(service.nodes, writers)
    const heads = collectHeads(service, () => load.paid().at(-1)?.receiptId)
    undo.push(() => Promise.all([load.stop(), readers.stop(), heads.stop()]))

    const phases: Phase[] = []
    let commands = 0
    for (const [step, wanted] of plan.entries()) {
      const before = { runs: load.paid().length, refused: load.refused.length }
      const reads = readers.count()
      for (const [i, node] of [first, second].entries()) {
        const build = wanted[i] as Build
        if (step > 0 && build !== plan[step - 1]?.[i]) {
          await replace(node, programs[build])
        }
      }
      await Bun.sleep(phaseMs)
      for (const node of [first, second]) {
        await judgeSchema(node, { isOlder: node.home.executable !== binary, step }, claim)
        await grant(node.home, `${granted.more}.00`, writers[commands % writers.length]?.account)
        commands++
      }
      phases.push({
        builds: wanted.join(' and '),
        runs: load.paid().length - before.runs,
        refused: countsOf(load.refused.slice(before.refused)),
        reads: readers.count() - reads,
      })
      say(`${JSON.stringify(phases.at(-1))}`)
    }
    await load.stop()
    await Promise.all([readers.stop(), heads.stop()])

    for (const what of load.refused) claim(isAllowed(what), `a run was refused: ${what}`)
    for (const what of readers.failed) claim(false, what)
    claim(load.open() === 0, `${load.open()} runs were never acknowledged`)
    await judgeDatabase(primary, claim)
    await judgeAcknowledged(primary, load.wishes, claim)
    judgeHeads(await rootsOf(primary), heads.seen, claim)
    const sums = await judgeSums(primary, load.paid(), commands, claim)
    // By the older build on this build's schema, then by this build.
    const proven = await judgeProofs(first, writers, claim)
    await replace(second, programs.this)
    const again = await judgeProofs(second, writers, claim)
    builds.this = await must(second.home, 'version', '--json')
    const { code, stdout } = await second.home.cli('audit', '--base', second.server.origin)
    claim(code === 0, `the audit of the log ended with ${code}: ${stdout}`)
    const audited = /Every check passed: (.*)/.exec(stdout)?.[1] ?? ''
    const seen = { heads: heads.seen.length, proven: proven + again, sums, audited }
    return { builds, phases, seen, faults }
  } finally {
    for (const step of undo.reverse()) await step()
  }
}

/** Stops a node as a supervisor does, and starts another build at its address. */
async function replace(node: Node, program: string): Promise<void> {
  const { port } = node.server
  await node.server.stop()
  node.home.executable = program
  await node.start({ port })
}

async function openAccounts({ home }: Node): Promise<Writer[]> {
  const writers: Writer[] = []
  for (let i = 0; i < accountCount; i++) {
    const account = `0x${Buffer.from(crypto.getRandomValues(new Uint8Array(20))).toString('hex')}`
    await grant(home, `${granted.first}.00`, account)
    const { secret } = await makeKey(home, { account })
    writers.push({ account, secret, wishes: [] })
  }
  return writers
}

/** A node stops and says so, or the balancer used a connection that a stopping node just closed. */
const isAllowed = (what: string): boolean => what === '503 unavailable' || what === '0 ECONNRESET'

type Expected = { isOlder: boolean; step: number }

/** The older build says that the schema is newer, once this one was there, and both are ready. */
async function judgeSchema({ name, server }: Node, { isOlder, step }: Expected, claim: Claim) {
  const ready = await server.call('/readyz')
  claim(ready.status === 200, `${name} is not ready: ${await ready.text()}`)
  const { database } = await (await server.call('/v1/status')).json()
  const expected = isOlder && step > 0 ? 'newer' : 'ok'
  claim(database.migrated === expected, `${name} says that the schema is ${database.migrated}`)
}

/** All grants equal all balances and what the acknowledged runs cost, to the nano-dollar. */
async function judgeSums(
  primary: PgServer,
  paid: readonly { cost: number }[],
  commands: number,
  claim: Claim,
): Promise<string> {
  const [row] = await primary.ask<{ left: string; held: string }>(
    'select sum(balance)::text as left, sum(held)::text as held from accounts',
  )
  const left = BigInt(row?.left ?? 0)
  const spent = paid.reduce((sum, { cost }) => sum + BigInt(cost), 0n)
  // The service itself begins with one account.
  const all = BigInt((accountCount + 1) * granted.first + commands * granted.more) * nanos
  claim(left + spent === all, `${left} nUSD are left and ${spent} spent of ${all}`)
  claim(row?.held === '0', `${row?.held} nUSD are held`)
  return `${spent} nUSD spent and ${left} left of ${all}`
}

async function judgeProofs(node: Node, writers: readonly Writer[], claim: Claim): Promise<number> {
  const found = await Promise.all(
    writers.map(({ secret, wishes }) => {
      // Of the first and the last phases: the ends of each list.
      const some = [...wishes.slice(0, 5), ...wishes.slice(-5)]
      return judgeReceipts(node, { secret, wishes: some }, claim)
    }),
  )
  return found.reduce((sum, { proven }) => sum + proven, 0)
}

function countsOf(all: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const what of all) counts[what] = (counts[what] ?? 0) + 1
  return counts
}

type Result = Awaited<ReturnType<typeof drillUpgrade>>

export function upgradeReport({ builds, phases, seen, faults }: Result): string {
  const lines = phases.map(({ builds, runs, refused, reads }) => {
    const tries = Object.entries(refused).map(([what, count]) => `${count} × ${what}`)
    return `| ${builds} | ${runs} | ${tries.join(', ') || 'none'} | ${reads} |`
  })
  return `## An older build and this one on one database

\`bun run drill upgrade\`, ${stampOf(builds.this)}

Two nodes on one PostgreSQL server, behind haproxy with the configuration of \`packaging/\`. The
older build is \`${builds.older.trim()}\`,
the oldest that may serve beside this one. ${accountCount} clients, each an account, run models
whole, streamed and in the background, each run under an Idempotency-Key until it is acknowledged.
Beside them every node is asked for lists, receipts, proofs and figures, and \`grant\` runs with
the executable of each node. A node is stopped by SIGTERM and its executable replaced; load never
stops. Afterwards every acknowledged run, all balances, every head that a node signed and the log
are compared, and receipts of all phases are verified at a node of either build.

**${faults.length} faults.**${faults
    .slice(0, 10)
    .map((fault) => `\n- ${fault}`)
    .join('')}

| builds of the nodes | runs | tries that were refused | reads |
|---|---|---|---|
${lines.join('\n')}

- ${seen.sums}
- ${seen.heads} heads of one log; ${seen.proven} receipts proven; ${seen.audited}
- a try is refused by a node that stops (503), or meets a connection that it just closed
  (ECONNRESET); each of these runs was acknowledged at another try, once
`
}
