/** Copies a large database while it is served, kills such copies, and serves one of them. */
import { existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Home, makeKey, must, type Server, spawnBinary } from '../test/support/binary.ts'
import { freePort } from '../test/support/free-port.ts'
import { countValid, type Run, spentBy, untilFree } from '../test/support/judges.ts'
import { credit, makePacedService, roomy } from '../test/support/paced-service.ts'
import { pricedBuiltins } from '../test/support/runs.ts'
import { testPrivateKey } from '../test/support/world.ts'
import { faultList, headOf } from './report.ts'
import { timesOf } from './samples.ts'
import { seedRuns } from './seed.ts'
import { startTraffic, type Traffic } from './traffic.ts'

const perSecond = 20
const copies = 3
const kills = 6
/** Receipts of a restored database that are verified. */
const looked = 50
/** Requests that a copy makes wait longer than this, beyond what they wait without, are a fault. */
const mostP99Ms = 200
const mostRatio = 10

export async function drillBackup(count: number, say: (line: string) => void = () => {}) {
  const port = freePort()
  const origin = `http://localhost:${port}`
  const toml = [`base_url = "${origin}"`, pricedBuiltins, roomy].join('\n')
  await using service = await makePacedService(toml)
  const { home, secret: key, key: root } = service
  const faults: string[] = []
  await (await home.start({ port })).stop()
  const child = await makeKey(home, {}, '--parent', root.id)
  await seedRuns({ data: home.data, origin, root, child, count })
  say(`${count} runs are in the log`)
  const server = await home.start({ port })
  const wallet = `0x${testPrivateKey}` as const
  const traffic = await startTraffic({ server, key, wallet, perSecond })
  await Bun.sleep(10_000)
  traffic.look()
  await Bun.sleep(20_000)
  const without = lookAt(traffic, faults)
  say(`without a copy: ${wordsOf(without)}`)
  const receipts = await someReceipts(server, key)
  const { seconds, beside } = await copyBeside(home, traffic, faults)
  say(`beside ${copies} copies of ${seconds.toFixed(1)} s: ${wordsOf(beside)}`)
  const isSlow = beside.p99 > mostP99Ms && beside.p99 > mostRatio * without.p99
  if (isSlow) faults.push(`requests took ${beside.p99.toFixed(0)} ms beside a copy (p99)`)
  const killed = await killCopies(home, seconds, faults)
  say(`${killed} copies were killed`)
  await traffic.stop()
  if ((await server.stop()) !== 0) faults.push('SIGTERM did not end with 0')
  const restored = await serveCopy(home, { port, key, receipts }, faults)
  say(`the copy was restored in ${restored.seconds.toFixed(1)} s`)
  const build = await must(home, 'version', '--json')
  return { count, without, beside, seconds, killed, restored, faults, build }
}

const copyName = (turn: number): string => `copy-${turn}.db`

/** Copies the database a few times; how long one took, and requests beside them. */
async function copyBeside(home: Home, traffic: Traffic, faults: string[]) {
  traffic.look()
  const begun = performance.now()
  for (let turn = 0; turn < copies; turn++) {
    const told = JSON.parse(await must(home, 'backup', copyName(turn), '--json'))
    if (told.ledger !== 'balanced') faults.push(`the ledger of a copy is ${told.ledger}`)
  }
  const seconds = (performance.now() - begun) / 1000 / copies
  return { seconds, beside: lookAt(traffic, faults) }
}

/** Kills copies wherever they are: their name is not there, or it is a whole copy's. */
async function killCopies(home: Home, seconds: number, faults: string[]): Promise<number> {
  let killed = 0
  for (let turn = 0; turn < kills; turn++) {
    const name = `killed-${turn}.db`
    const child = spawnBinary(home, ['backup', name])
    await Bun.sleep(((turn + 0.7) / kills) * seconds * 1000)
    child.kill('SIGKILL')
    await child.exited
    if (child.signalCode === 'SIGKILL') killed++
    const isThere = existsSync(join(home.folder, name))
    if (isThere && child.signalCode === 'SIGKILL') {
      // It was killed after it had got its name: then it is whole.
      const other = await home.cli('restore', name, '--data', `of-${name}`)
      if (other.code !== 0) faults.push(`a copy that was killed is there: ${other.stderr}`)
    }
  }
  const left = readdirSync(home.folder).filter((name) => name.startsWith('.counterfoil-'))
  if (killed > 0 && left.length > killed) faults.push(`${left.length} folders are left behind`)
  return killed
}

type Before = { port: number; key: string; receipts: string[] }

/** Serves the first copy in place of the database, and compares. */
async function serveCopy(home: Home, { port, key, receipts }: Before, faults: string[]) {
  const lost = join(home.folder, 'lost')
  renameSync(home.data, lost)
  mkdirSync(home.data, { mode: 0o700 })
  const begun = performance.now()
  const told = JSON.parse(await must(home, 'restore', copyName(0), '--json'))
  const seconds = (performance.now() - begun) / 1000
  if (told.ledger !== 'balanced') faults.push(`the restored ledger is ${told.ledger}`)
  await copyFile(join(lost, 'signer.key'), join(home.data, 'signer.key'))
  const server = await home.start({ port })
  const status = await server.get('/v1/status')
  if (status.ledger !== 'balanced') faults.push(`the ledger is ${status.ledger} after a restore`)
  // Runs that were open in the copy end at no charge when it is served.
  const { balance_nusd: left } = await untilFree(server, key)
  const { spent } = await spentBy(home)
  if (left !== credit - spent) faults.push(`${left} nUSD are left, ${spent} were spent`)
  const valid = await countValid(server, key, receipts)
  if (valid === 0 || valid !== receipts.length)
    faults.push(`${valid} of ${receipts.length} receipts verify`)
  await server.stop()
  return { seconds, leaves: Number(told.log_size), valid }
}

/** Receipts of before, some of them of runs that were in the database before all. */
async function someReceipts(server: Server, key: string): Promise<string[]> {
  const page: { data: Run[] } = await server.get(`/v1/runs?limit=${looked}&status=succeeded`, key)
  return page.data.flatMap(({ receipt_id: id }) => id ?? [])
}

function lookAt(traffic: Traffic, faults: string[]) {
  const { times, faults: found } = traffic.look()
  faults.push(...found)
  return timesOf(times)
}

const wordsOf = ({ count, median, p99, most }: ReturnType<typeof timesOf>): string =>
  `${count} requests, median ${median.toFixed(1)} ms, ` +
  `p99 ${p99.toFixed(0)}, most ${most.toFixed(0)}`

type Result = Awaited<ReturnType<typeof drillBackup>>

export function backupReport({ count, without, beside, seconds, ...rest }: Result): string {
  const { killed, restored, faults, build } = rest
  return `${headOf('Copied while it is served', 'backup', build)}

A server with ${count.toLocaleString('en')} runs takes ${perSecond} requests a second of every sort
while \`counterfoil backup\` copies its database, ${copies} times. The timed requests are reads and
runs of a built-in model, over HTTP, on a machine that does other things too. Further copies are
killed, each a little later: no name is there but a whole copy's. Then the first copy is restored
and served: its ledger adds up, the balance is the grant less the cost of every run in it, and
receipts from before it verify.

${faultList(faults)}

- without a copy: ${wordsOf(without)}
- beside a copy: ${wordsOf(beside)}
- a copy took ${seconds.toFixed(1)} s, its verification included; ${killed} were killed
- the restore took ${restored.seconds.toFixed(1)} s: ${restored.leaves} leaves;
  ${restored.valid} receipts verified
`
}
