import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../support/free-port.ts'
import { until } from '../support/runs.ts'

const env = { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin` }

/** How a balancer is started on a configuration. */
export const commands = {
  haproxy: (file: string) => ['haproxy', '-f', file],
  nginx: (file: string) => ['nginx', '-c', file, '-g', 'daemon off;'],
} as const

export type Program = keyof typeof commands

export const isInstalled = (program: Program): boolean =>
  Bun.which(program, { PATH: env.PATH }) !== null

export type Stub = ReturnType<typeof startNode>

/** Stands in for a node: says which one it is, as long as it is up. */
export function startNode(name: string) {
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

/** Starts a balancer on a configuration, which may name the folder that it lies in. */
export function spawnBalancer(program: Program, toText: (folder: string) => string) {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-balancer-'))
  const file = join(folder, 'config')
  writeFileSync(file, toText(folder))
  const child = Bun.spawn([...commands[program](file)], { env, stdout: 'ignore', stderr: 'ignore' })
  const stop = async () => {
    child.kill()
    await child.exited
    rmSync(folder, { recursive: true })
  }
  return { stop }
}

/**
 * A balancer on a configuration that we give away; the nodes take the addresses in it in turn.
 * @param host the Host that nodes answer to, where they are not stubs
 */
export async function startBalancer(
  program: Program,
  path: string,
  nodes: readonly { port: number | string }[],
  { port = freePort(), host = 'gateway.example' } = {},
) {
  let text = readFileSync(path, 'utf8')
    .replace('0.0.0.0:8080', `127.0.0.1:${port}`)
    .replace('listen 8080', `listen 127.0.0.1:${port}`)
    .replaceAll('gateway.example', host)
  for (const [i, node] of nodes.entries()) {
    text = text.replace(`10.0.0.1${i + 1}:4663`, `127.0.0.1:${node.port}`)
  }
  const { stop } = spawnBalancer(program, (folder) =>
    text.replace('events {}', `pid ${folder}/pid; error_log ${folder}/log; events {}`),
  )
  const url = `http://127.0.0.1:${port}`
  /** The text of a good answer; empty for any other. */
  const ask = async (
    headers: Record<string, string>,
    { path = '/v1/runs', method = 'GET' } = {},
  ): Promise<string> => {
    const answer = await fetch(url + path, { headers, method }).catch(() => undefined)
    return answer?.ok ? answer.text() : ''
  }
  await until('it to answer', async () => (await ask({}, { path: '/v1/status' })) !== '', 20_000)
  return { url, ask, stop }
}
