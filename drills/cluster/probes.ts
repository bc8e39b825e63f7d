/** Asks every probe of every node all the time, as supervisors do. */
import type { Node, Service } from './nodes.ts'

export type Probe = {
  at: number
  node: string
  path: string
  status: number
  tookMs: number
  said: string
}

export type Probes = {
  seen: Probe[]
  /** Probes since a moment of `performance.now()`. */
  since(at: number): Probe[]
  stop(): Promise<void>
}

/** How long a supervisor waits, in ms: more than any probe may take. */
const patienceMs = 20_000

/** Asks every probe of every node twice a second, one question each at a time. */
export function startProbes({ nodes }: Service): Probes {
  const seen: Probe[] = []
  let isOver = false
  const watch = async (node: Node, path: string): Promise<void> => {
    while (!isOver) {
      const sentAt = performance.now()
      const { status, said } = await ask(node, path)
      const at = performance.now()
      seen.push({ at, node: node.name, path, status, said, tookMs: at - sentAt })
      await Bun.sleep(500)
    }
  }
  const paths = ['/livez', '/readyz', '/v1/status', '/metrics']
  const watching = nodes.flatMap((node) => paths.map((path) => watch(node, path)))
  return {
    seen,
    since: (from) => seen.filter(({ at, tookMs }) => at - tookMs >= from),
    async stop() {
      isOver = true
      await Promise.all(watching)
    },
  }
}

async function ask(node: Node, path: string): Promise<{ status: number; said: string }> {
  const url = path === '/metrics' ? node.metricsUrl : node.server.origin + path
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(patienceMs) })
    return { status: answer.status, said: await answer.text() }
  } catch {
    return { status: 0, said: '' }
  }
}

/** Whether every kind of probe of a node says that the log diverged. */
export function sayDiverged(probes: Probe[]): boolean {
  const newest = new Map(probes.map((probe) => [probe.path, probe]))
  const said = (path: string): string => newest.get(path)?.said ?? ''
  return (
    newest.get('/readyz')?.status === 503 &&
    said('/readyz').includes('log_diverged') &&
    said('/v1/status').includes('"diverged"') &&
    /^counterfoil_log_diverged 1$/m.test(said('/metrics'))
  )
}
