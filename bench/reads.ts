import type { Load } from './load.ts'
import { cpuUs, interleave, median, type Pace } from './rounds.ts'
import type { Row } from './table.ts'
import { all, both, type Gateways, type Running, startHello } from './targets.ts'

/** What everybody may read. */
const publicPaths = ['/livez', '/v1/models', '/v1/status', '/v1/signer']
/** What a key asks of itself before it runs. */
const keyedPath = '/v1/keys/self'

/** What a small read costs beside a greeting by the same framework, which does nothing. */
export async function measureReads(gateways: Gateways, { seconds, rounds }: Pace): Promise<Row[]> {
  const started = await startHello()
  try {
    const hello: Running = { ...started, path: '/' }
    const load: Load = { behaviour: 't16', stream: false, connections: 32, seconds }
    const reads = [keyedPath, ...publicPaths].map((path) => ({ path, ...readsOf(gateways, path) }))
    const targets = [hello, ...reads.flatMap(all)]
    const results = await interleave('reads, 32 at once', { targets, load, rounds })
    const cpu = (target: Running) => median(results, target, cpuUs)
    return reads.map((read) => ({
      quantity: `GET ${read.path} a second of CPU against a greeting by Elysia`,
      ...both(read, (target) => cpu(hello) / cpu(target)),
      gate: ['≥', 0.5],
      ...(read.path === keyedPath ? { aim: 0.65 } : {}),
    }))
  } finally {
    await started.process.stop()
  }
}

/** Both gateways as the targets of one read. */
function readsOf({ gateway, before }: Gateways, path: string): Gateways {
  const read = (target: Running): Running => ({
    ...target,
    name: `${target.name} ${path}`,
    path,
    headers: path === keyedPath ? target.headers : {},
  })
  return { gateway: read(gateway), before: before && read(before) }
}
