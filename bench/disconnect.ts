import { connect } from './connection.ts'
import { requestOf, type Target } from './load.ts'
import { usageOf } from './processes.ts'
import type { UpstreamStats } from './upstream.ts'

export type DisconnectResult = {
  /** Streams the upstream saw, and how many of them it saw stopped. */
  streams: number
  cut: number
  stillActive: number
  tokensSent: number
  /** What they would have been without a disconnect. */
  tokensWhole: number
  growthMiB: number
}

/** Opens `count` streams, `atOnce` at a time, and cuts each after four frames. */
export async function runDisconnects(
  target: Target,
  upstream: string,
  count: number,
  atOnce: number,
): Promise<DisconnectResult> {
  const tokens = 500
  const url = new URL('/v1/chat/completions', target.origin)
  const request = requestOf(target, url, { behaviour: `t${tokens}-i10`, stream: true })
  await fetch(`${upstream}/reset`, { method: 'POST' })
  const before = target.pid === undefined ? 0 : usageOf(target.pid).rssMiB
  let left = count
  const keepCutting = async () => {
    while (left-- > 0) {
      const connection = await connect(url)
      await connection.ask(request, (_, soFar) => {
        if (soFar >= 4) connection.cut()
      })
    }
  }
  await Promise.all(Array.from({ length: atOnce }, keepCutting))
  const stats = await settled(upstream)
  const after = target.pid === undefined ? 0 : usageOf(target.pid).rssMiB
  return {
    streams: stats.streams,
    cut: stats.cut,
    stillActive: stats.active,
    tokensSent: stats.tokens,
    tokensWhole: count * tokens,
    growthMiB: after - before,
  }
}

/** The upstream's counts once no stream is left, or after 3 s. */
async function settled(upstream: string): Promise<UpstreamStats> {
  for (let tries = 0; ; tries++) {
    const stats = (await (await fetch(`${upstream}/stats`)).json()) as UpstreamStats
    if (stats.active === 0 || tries === 30) return stats
    await Bun.sleep(100)
  }
}
