import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Peers } from './paid.ts'
import { plain } from './paid.ts'
import { cpuUs, interleave, median, type Pace, writtenBy, writtenKb } from './rounds.ts'
import { middle, type Row } from './table.ts'
import { all, both, type Gateways, type Running } from './targets.ts'

type Side = Gateways & { stub: Running; proxy: Running; peers: Peers }

/** How long one caller alone waits for a paid run, and what that run costs. */
export async function measureLatency(
  { stub, proxy, peers, ...gateways }: Side,
  { seconds, rounds }: Pace,
  folder: string,
): Promise<Row[]> {
  const syncs: number[] = []
  const others = typeof peers === 'string' ? [] : [peers.onNode]
  const results = await interleave('paid runs, one after the other', {
    targets: [stub, proxy, ...all(gateways), ...others],
    load: plain(1, seconds),
    rounds,
    between: () => syncs.push(syncMs(folder)),
  })
  const at = (target: Running, share: 'p50' | 'p99') =>
    median(results, target, ({ latencyMs }) => latencyMs[share])
  const added = (target: Running) => at(target, 'p99') - at(stub, 'p99')
  const sync = middle(syncs)
  return [
    {
      quantity: 'latency added to the pass-through, p50, in times of an fdatasync',
      ...both(gateways, (gateway) => (at(gateway, 'p50') - at(proxy, 'p50')) / sync),
      gate: ['≤', 2],
      aim: 1.2,
    },
    {
      quantity: 'CPU of a paid run of a lone caller, µs',
      ...both(gateways, (gateway) => median(results, gateway, cpuUs)),
      gate: ['≤', 450],
      aim: 270,
    },
    {
      quantity: 'latency added, p99, against Portkey on Node',
      ...both(gateways, (gateway) =>
        typeof peers === 'string' ? peers : added(gateway) / added(peers.onNode),
      ),
      gate: ['≤', 0.5],
      aim: 0.3,
    },
    {
      quantity: `kB written a run of a lone caller${writtenBy(results, gateways.gateway)}`,
      ...both(gateways, (gateway) => median(results, gateway, writtenKb)),
      gate: ['≤', 30],
      aim: 12,
    },
    { quantity: 'fdatasync of 4 KiB in the same folder, ms', measured: sync },
    {
      quantity: 'latency added, p50, ms',
      ...both(gateways, (gateway) => at(gateway, 'p50') - at(stub, 'p50')),
    },
  ]
}

/** The median time that 4 KiB take to the disk, in ms: a write and its fdatasync. */
export function syncMs(folder: string): number {
  const file = join(folder, 'sync')
  const opened = openSync(file, 'w')
  const page = Buffer.alloc(4096, 1)
  const times: number[] = []
  try {
    for (let i = 0; i < 300; i++) {
      const begin = performance.now()
      writeSync(opened, page, 0, page.length, i * page.length)
      fdatasyncSync(opened)
      times.push(performance.now() - begin)
    }
  } finally {
    closeSync(opened)
    rmSync(file)
  }
  return middle(times)
}
