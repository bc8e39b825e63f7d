import type { Load } from './load.ts'
import {
  cpuUs,
  interleave,
  median,
  type Pace,
  perSecond,
  type Results,
  writtenBy,
  writtenKb,
} from './rounds.ts'
import { digits, middle, type Row } from './table.ts'
import { all, both, type Gateways, type Running, startCounterfoil } from './targets.ts'

type Side = Gateways & { stub: Running; proxy: Running; peers: Peers }
/** The peer on each engine, or why there is none. */
export type Peers = { onNode: Running; onBun: Running } | string

/** What a paid run without a stream costs, 32 at once, beside those who do not count money. */
export async function measurePaid(
  { stub, proxy, peers, ...gateways }: Side,
  { seconds, rounds }: Pace,
  folder: string,
): Promise<Row[]> {
  const twin = await startCounterfoil(stub, { name: 'twin', folder })
  const others = typeof peers === 'string' ? [] : [peers.onNode, peers.onBun]
  const results = await interleave('paid runs, 32 at once', {
    targets: [proxy, ...all(gateways), twin, ...others],
    load: plain(32, seconds),
    rounds,
  }).finally(() => twin.process.stop())
  const cpu = (target: Running) => median(results, target, cpuUs)
  const against = (target: Running | undefined) => (gateway: Running) =>
    target ? cpu(target) / cpu(gateway) : String(peers)
  const { onNode, onBun } = typeof peers === 'string' ? {} : peers
  return [
    {
      quantity: 'CPU of a paid run against the pass-through',
      ...both(gateways, (gateway) => cpu(gateway) / cpu(proxy)),
      gate: ['≤', 3.5],
      aim: 2.7,
    },
    {
      quantity: 'CPU of Portkey on Node against a paid run',
      ...both(gateways, against(onNode)),
      gate: ['≥', 10],
      aim: 13,
    },
    {
      quantity: 'CPU of Portkey on Bun against a paid run',
      ...both(gateways, against(onBun)),
      gate: ['≥', 1.3],
      aim: 1.7,
    },
    {
      quantity: `kB written a run, 32 at once${writtenBy(results, gateways.gateway)}`,
      ...both(gateways, (gateway) => median(results, gateway, writtenKb)),
      gate: ['≤', 4],
      aim: 2,
    },
    { quantity: 'CPU of a paid run, µs', ...both(gateways, cpu) },
    {
      quantity: 'the same build beside itself: CPU of a paid run, least and most of a round',
      measured: spreadOf(results, gateways.gateway, twin),
    },
    {
      quantity: 'paid runs a second',
      ...both(gateways, (gateway) => median(results, gateway, perSecond)),
    },
  ]
}

/** How far two processes of one build are apart: a smaller difference says nothing. */
function spreadOf(results: Results, one: Running, other: Running): string {
  const others = results.get(other) ?? []
  const ratios = (results.get(one) ?? []).map((result, at) => {
    const beside = others[at]
    return beside ? beside.cpuUsPerRequest / result.cpuUsPerRequest : Number.NaN
  })
  const [least, most] = [Math.min(...ratios), Math.max(...ratios)]
  return `${digits(middle(ratios))} (${digits(least)} to ${digits(most)})`
}

export const plain = (connections: number, seconds: number): Load => ({
  behaviour: 't16',
  stream: false,
  connections,
  seconds,
})
