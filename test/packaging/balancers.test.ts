import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../binary/nodes.ts'
import { until } from '../support/runs.ts'

setDefaultTimeout(60_000)

/** The balancers whose configurations we give away, with how they are started on one of them. */
const balancers = [
  ['haproxy', 'packaging/haproxy.cfg', (file: string) => ['haproxy', '-f', file]],
  ['nginx', 'packaging/nginx.conf', (file: string) => ['nginx', '-c', file, '-g', 'daemon off;']],
] as const

/** What stands in for a node: it says which one it is, as long as it is up. */
function startNode(name: string) {
  const seen: string[] = []
  const answer = (request: Request): Response => {
    if (new URL(request.url).pathname === '/readyz') return new Response('{}')
    seen.push(`${request.method} ${request.headers.get('x-forwarded-for')}`)
    return new Response(name)
  }
  const serve = (port: number) => Bun.serve({ hostname: '127.0.0.1', port, fetch: answer })
  let server = serve(0)
  const port = server.port ?? 0
  const down = () => server.stop(true)
  const up = () => {
    server = serve(port)
  }
  return { name, port, seen, down, up }
}

describe.each(balancers)('%s', (program, path, command) => {
  const isThere = Bun.which(program, { PATH: `${process.env['PATH']}:/usr/sbin` }) !== null
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-balancer-'))
  const nodes = [startNode('a'), startNode('b')]
  const port = freePort()
  let child: Bun.Subprocess | undefined

  beforeAll(async () => {
    if (!isThere) return
    const text = readFileSync(path, 'utf8')
      .replace('10.0.0.11:4663', `127.0.0.1:${nodes[0]?.port}`)
      .replace('10.0.0.12:4663', `127.0.0.1:${nodes[1]?.port}`)
      .replace('0.0.0.0:8080', `127.0.0.1:${port}`)
      .replace('listen 8080', `listen 127.0.0.1:${port}`)
      .replace('events {}', `pid ${folder}/pid; error_log ${folder}/log; events {}`)
    const file = join(folder, 'config')
    writeFileSync(file, text)
    const env = { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin` }
    child = Bun.spawn([...command(file)], { env, stdout: 'ignore', stderr: 'ignore' })
    await until('it to answer', async () => (await ask({})) !== '', 20_000)
  })
  afterAll(async () => {
    child?.kill()
    await child?.exited
    for (const node of nodes) await node.down()
    rmSync(folder, { recursive: true })
  })

  const ask = async (headers: Record<string, string>, method = 'GET'): Promise<string> => {
    const answer = await fetch(`http://127.0.0.1:${port}/v1/runs`, { headers, method }).catch(
      () => undefined,
    )
    return answer?.ok ? answer.text() : ''
  }
  const keys = Array.from({ length: 24 }, (_, i) => `sk-service-${i}`)
  const nodesOf = (headers: (key: string) => Record<string, string>) =>
    Promise.all(keys.map((key) => ask(headers(key))))

  test.skipIf(!isThere)('sends all requests of a key to one node, and keys to both', async () => {
    for (const spelling of ['authorization', 'x-api-key']) {
      const first = await nodesOf((key) => ({ [spelling]: key }))
      expect(await nodesOf((key) => ({ [spelling]: key }))).toEqual(first)
      expect(new Set(first)).toEqual(new Set(['a', 'b']))
    }
    expect(nodes[0]?.seen.at(-1)).toContain('127.0.0.1')
  })

  test.skipIf(!isThere)(
    'sends the keys of a node that is down to the other one, others stay',
    async () => {
      const [a, b] = nodes
      const before = await nodesOf((authorization) => ({ authorization }))
      await b?.down()
      const key = keys[before.indexOf('b')] ?? ''
      await until(
        'its keys to move',
        async () => (await ask({ authorization: key }, 'POST')) === 'a',
        20_000,
      )
      expect(new Set(await nodesOf((authorization) => ({ authorization })))).toEqual(new Set(['a']))
      b?.up()
      const back = async () => (await ask({ authorization: key })) === 'b'
      await until('them to come back', back, 20_000)
      expect(await nodesOf((authorization) => ({ authorization }))).toEqual(before)
      expect(a?.seen.length).toBeGreaterThan(0)
    },
  )
})
