import type { Load } from './load.ts'
import { cpuUs, interleave, median, type Pace, perSecond } from './rounds.ts'
import type { Row } from './table.ts'
import type { Running } from './targets.ts'

type Side = { proxy: Running; gateway: Running; peers: Peers }
/** The peer on each engine, or why there is none. */
export type Peers = { onNode: Running; onBun: Running } | string

/** What a paid run without a stream costs, 32 at once, beside those who do not count money. */
export async function measurePaid(
  { proxy, gateway, peers }: Side,
  { seconds, rounds }: Pace,
): Promise<Row[]> {
  const others = typeof peers === 'string' ? [] : [peers.onNode, peers.onBun]
  const targets = [proxy, gateway, ...others]
  const results = await interleave('paid runs, 32 at once', {
    targets,
    load: plain(32, seconds),
    rounds,
  })
  const cpu = (target: Running) => median(results, target, cpuUs)
  const against = (target: Running | undefined) =>
    target ? cpu(target) / cpu(gateway) : String(peers)
  const { onNode, onBun } = typeof peers === 'string' ? {} : peers
  return [
    {
      quantity: 'CPU of a paid run against the pass-through',
      measured: cpu(gateway) / cpu(proxy),
      target: ['≤', 1.5],
    },
    {
      quantity: 'CPU of Portkey on Node against a paid run',
      measured: against(onNode),
      target: ['≥', 10],
    },
    {
      quantity: 'CPU of Portkey on Bun against a paid run',
      measured: against(onBun),
      target: ['≥', 1.8],
    },
    { quantity: 'CPU of a paid run, µs', measured: cpu(gateway) },
    { quantity: 'paid runs a second', measured: median(results, gateway, perSecond) },
  ]
}

export const plain = (connections: number, seconds: number): Load => ({
  behaviour: 't16',
  stream: false,
  connections,
  seconds,
})
