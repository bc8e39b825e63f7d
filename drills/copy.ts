import { join } from 'node:path'
import { grant, makeHome, makeKey, must, type Server } from '../test/support/binary.ts'
import { freePort } from '../test/support/free-port.ts'
import { claims, countValid } from '../test/support/judges.ts'
import { emptyDatabase } from '../test/support/postgres.ts'
import { pricedBuiltins, until } from '../test/support/runs.ts'
import { faultList, headOf } from './report.ts'
import { seedRuns } from './seed.ts'

const origin = 'http://localhost:4663'
const model = 'counterfoil/echo-1'

type Told = {
  tables: { table: string; rows: number }[]
  balance_nusd: string
  sides_nusd: Record<string, string>
  logs: { size: number; root: string }[]
}

/** Copies a large SQLite database into PostgreSQL, and compares what servers on both say. */
export async function drillCopy(count: number, say: (line: string) => void = () => {}) {
  const database = await emptyDatabase()
  const home = await makeHome(`base_url = "${origin}"\n${pricedBuiltins}`)
  const { faults, claim } = claims()
  try {
    const first = await home.start({ port: freePort() })
    await grant(home, '1000000.00')
    const root = await makeKey(home, { cap: '9000000.00' })
    const child = await makeKey(home, { cap: '9000000.00' }, '--parent', root.id)
    await first.stop()
    const { data } = home
    await seedRuns({ data, origin, root, child, count })
    say(`${count} runs are in the log`)
    const source = await home.start({ port: freePort() })
    const receipts = await runSome(source, root.secret)
    const before = await look(source, root.secret, receipts)
    await source.stop()
    const begun = performance.now()
    const from = `sqlite:${join(data, 'counterfoil.db')}`
    const done = await must(home, 'db', 'copy', '--from', from, '--to', database.url, '--json')
    const seconds = (performance.now() - begun) / 1000
    const told = JSON.parse(done) as Told
    say(`copied and read again in ${seconds.toFixed(1)} s`)
    home.configure(`base_url = "${origin}"\ndatabase_url = "${database.url}"\n${pricedBuiltins}`)
    const server = await home.start({ port: freePort() })
    const after = await look(server, root.secret, receipts)
    for (const [name, value] of Object.entries(before)) {
      const now = after[name as keyof typeof after]
      claim(now === value, `${name} was ${value}, and is ${now}`)
    }
    claim(after.valid === receipts.length, `${after.valid} of ${receipts.length} receipts verify`)
    claim(after.ledger === 'balanced', `the ledger is ${after.ledger}`)
    claim(told.logs[0]?.root === before.root, `the root was ${before.root}`)
    claim(told.sides_nusd['user'] === told.balance_nusd, 'balances are not the side of users')
    claim((await runSome(server, root.secret)).length > 0, 'nothing runs on the copy')
    await server.stop()
    const rows = told.tables.reduce((sum, table) => sum + table.rows, 0)
    const build = await must(home, 'version', '--json')
    return { count, rows, seconds, told, readyMs: server.readyMs, checked: receipts, faults, build }
  } finally {
    await home.remove()
    await database.drop()
  }
}

async function runSome(server: Server, key: string): Promise<string[]> {
  const asked = Array.from({ length: 20 }, async () => {
    const answer = await server.call('/v1/runs', { key, json: { model, input: 'a drill' } })
    return ((await answer.json()) as { receipt: { id: string } }).receipt.id
  })
  return Promise.all(asked)
}

/** What a server says of its money and its log, and how many of some receipts verify. */
async function look(server: Server, key: string, receipts: string[]) {
  const { log } = await until(
    'the whole log to be signed',
    async () => {
      const told = await server.get('/v1/anchors')
      return Number(told.log.checkpoint?.size) === Number(told.log.size) && told
    },
    60_000,
  )
  const { balance_nusd: balance, held_nusd: held } = await server.get('/v1/balance', key)
  const { ledger } = await server.get('/v1/status')
  const { root, size } = log.checkpoint
  const valid = await countValid(server, key, receipts)
  return { balance, held, ledger, root, size, valid }
}

type Result = Awaited<ReturnType<typeof drillCopy>>

export function copyReport({ count, rows, seconds, told, readyMs, ...rest }: Result): string {
  const { checked, faults, build } = rest
  const rate = Math.round(rows / seconds).toLocaleString('en')
  return `${headOf(`A copy of ${count.toLocaleString('en')} runs to PostgreSQL`, 'copy', build)}

The runs are written straight into a SQLite database, with the transfers they made; a server runs
${checked.length} more. \`counterfoil db copy\` writes all of it into an empty PostgreSQL database
and reads it again: a hash of every row, the sums of the ledger, every subtree of the log. A server
on the copy says the same balance, the same root and the same size of the log, the receipts of
before verify, and it runs on.

${faultList(faults)}

- ${rows.toLocaleString('en')} rows in ${seconds.toFixed(1)} s: ${rate} a second
- ${told.logs[0]?.size} leaves, root \`${told.logs[0]?.root}\`
- the server on the copy was ready after ${(readyMs / 1000).toFixed(1)} s
`
}
