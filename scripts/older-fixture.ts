/**
 * `bun scripts/older-fixture.ts <checkout> <name> [empty PostgreSQL database]`: starts the program
 * of an older commit as people do, lets it live a little, and keeps what it leaves behind as
 * test/fixtures/databases/<name>.sql (<name>.pg.sql of PostgreSQL), with what it told as JSON.
 *
 * Its signer is the first well-known test account. The secret of its key is thrown away: the test
 * that opens the database rotates the key.
 */
import { Database } from 'bun:sqlite'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dump, fileText, owner, testPrivateKey } from './fixture.ts'

const [checkout = '', name = '', databaseUrl] = Bun.argv.slice(2)
const scopes = 'runs:write,runs:read,usage:read,receipts:read,receipts:share,keys:mint,keys:read'
const isPg = databaseUrl !== undefined
const folder = mkdtempSync(join(tmpdir(), 'counterfoil-older-'))
const port = 14_663
const origin = `http://127.0.0.1:${port}`
const settings = [
  `data = "${join(folder, 'data')}"`,
  `listen = "127.0.0.1:${port}"`,
  ...(isPg ? [`database_url = "${databaseUrl}"`] : []),
]
const file = join(folder, 'counterfoil.toml')
writeFileSync(file, `${settings.join('\n')}\n${fileText}`)

const program = (...given: string[]) =>
  Bun.spawn([process.execPath, 'src/main.ts', ...given], {
    cwd: checkout,
    env: { ...process.env, COUNTERFOIL_SIGNER_KEY: testPrivateKey },
    stdout: 'pipe',
    stderr: 'inherit',
  })

async function told(...given: string[]) {
  const child = program(...given, '--config', file, '--json')
  const text = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error(`${given.join(' ')}: ${text}`)
  return JSON.parse(text)
}

async function live(): Promise<object> {
  await told('grant', owner, '50', '--reason', 'fixture')
  const key = await told('key', 'create', '--account', owner, '--cap', '20', '--scopes', scopes)
  const authorization = `Bearer ${key.secret}`
  const post = async (path: string, json: object) => {
    const headers = { 'content-type': 'application/json', authorization }
    const answer = await fetch(origin + path, {
      method: 'POST',
      headers,
      body: JSON.stringify(json),
    })
    await answer.text()
    return answer.status
  }
  const get = async (path: string) =>
    (await fetch(origin + path, { headers: { authorization } })).json()
  const chat = { model: 'counterfoil/echo-1', messages: [{ role: 'user', content: 'to be kept' }] }
  const statuses = [
    await post('/v1/chat/completions', chat),
    await post('/v1/chat/completions', { ...chat, stream: true }),
    await post('/v1/embeddings', { model: 'counterfoil/embed-1', input: 'to be kept' }),
    await post('/v1/runs', { ...chat, tags: { job: 'fixture' } }),
    await post('/v1/chat/completions', { ...chat, model: 'acme/gone' }),
  ]
  // Numbers, signatures and the checkpoint come within seconds.
  await Bun.sleep(8000)
  const { data } = (await get('/v1/receipts')) as { data: { id: string }[] }
  const visible = { visibility: 'public', reveal: [] }
  statuses.push(await post(`/v1/receipts/${data[0]?.id}/share`, visible))
  const receipts = await Promise.all(data.map(({ id }) => get(`/v1/receipts/${id}`)))
  const proofs = await Promise.all(data.map(({ id }) => get(`/v1/receipts/${id}/proof`)))
  const { account } = (await get('/v1/keys/self')) as { account?: { balance_nusd?: string } }
  return { account: owner, balance: account?.balance_nusd, statuses, receipts, proofs }
}

/** The output of `pg_dump` without its session settings. */
async function dumpPg(url: string): Promise<string> {
  const flags = ['--inserts', '--no-owner', '--no-privileges', '--no-comments']
  const child = Bun.spawn(['pg_dump', ...flags, url], { stdout: 'pipe', stderr: 'inherit' })
  const lines = (await new Response(child.stdout).text()).split('\n')
  if ((await child.exited) !== 0) throw new Error('pg_dump failed')
  const ofSession = /^(--|SET |SELECT pg_catalog\.set_config|\\)/
  return `${lines.filter((line) => line !== '' && !ofSession.test(line)).join('\n')}\n`
}

const server = program('serve', '--config', file)
try {
  for (let isReady = false; !isReady; await Bun.sleep(100)) {
    if (server.exitCode !== null) throw new Error('the older program ended')
    isReady = await fetch(`${origin}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    )
  }
  const left = await live()
  server.kill('SIGTERM')
  await server.exited
  const out = `test/fixtures/databases/${name}${isPg ? '.pg' : ''}`
  const raw = isPg ? undefined : new Database(join(folder, 'data/counterfoil.db'))
  await Bun.write(`${out}.sql`, raw ? dump(raw) : await dumpPg(databaseUrl ?? ''))
  await Bun.write(`${out}.json`, `${JSON.stringify({ until: Date.now(), ...left }, null, 2)}\n`)
  console.log(`${out}.sql`, Bun.file(`${out}.sql`).size)
} finally {
  server.kill()
  rmSync(folder, { recursive: true })
}
