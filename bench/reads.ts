import type { Load } from './load.ts'
import { cpuUs, interleave, median, type Pace } from './rounds.ts'
import type { Row } from './table.ts'
import { type Running, startHello } from './targets.ts'

/** What everybody may read. */
const publicPaths = ['/livez', '/v1/models', '/v1/status', '/v1/signer']
/** What a key asks of itself before it runs. */
const keyedPath = '/v1/keys/self'

/** What a small read costs beside a greeting by the same framework, which does nothing. */
export async function measureReads(gateway: Running, { seconds, rounds }: Pace): Promise<Row[]> {
  const started = await startHello()
  try {
    const hello: Running = { ...started, path: '/' }
    const load: Load = { behaviour: 't16', stream: false, connections: 32, seconds }
    const keyed: Running = { ...gateway, name: keyedPath, path: keyedPath }
    const open = publicPaths.map((path): Running => {
      return { ...gateway, name: path, path, headers: {} }
    })
    const targets = [hello, keyed, ...open]
    const results = await interleave('reads, 32 at once', { targets, load, rounds })
    const cpu = (target: Running) => median(results, target, cpuUs)
    return [keyed, ...open].map((target) => ({
      quantity: `GET ${target.name} a second of CPU against a greeting by Elysia`,
      measured: cpu(hello) / cpu(target),
      target: ['≥', 0.5],
    }))
  } finally {
    await started.process.stop()
  }
}
