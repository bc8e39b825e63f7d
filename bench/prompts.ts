/** The CPU of a paid run by the length of its prompt, and of one with an Idempotency-Key. */
import type { Load } from './load.ts'
import { plain } from './paid.ts'
import { cpuUs, interleave, median, type Pace } from './rounds.ts'
import type { Row } from './table.ts'
import { all, both, type Gateways, type Running } from './targets.ts'

/** In bytes; 28 are those of the prompt of every other row. */
const lengths = [
  { name: '8 KiB', promptBytes: 8192 },
  { name: '60 KiB', promptBytes: 61_440, gate: 4.5 },
]

export async function measurePrompts(
  { proxy, ...gateways }: Gateways & { proxy: Running },
  { seconds, rounds }: Pace,
): Promise<Row[]> {
  const targets = [proxy, ...all(gateways)]
  const cpuOf = async (title: string, load: Load) => {
    const results = await interleave(title, { targets, load, rounds })
    return (target: Running) => median(results, target, cpuUs)
  }
  const rows: Row[] = []
  const short = await cpuOf('paid runs with a prompt of 28 B', plain(32, seconds))
  const once = await cpuOf('the same with an Idempotency-Key', {
    ...plain(32, seconds),
    isIdempotent: true,
  })
  rows.push({
    quantity: 'CPU of a paid run with an Idempotency-Key against one without',
    ...both(gateways, (gateway) => once(gateway) / short(gateway)),
    gate: ['≤', 1.3],
  })
  for (const { name, promptBytes, gate } of lengths) {
    const load = { ...plain(32, seconds), promptBytes }
    const cpu = await cpuOf(`paid runs with a prompt of ${name}`, load)
    rows.push({
      quantity: `CPU of a paid run with a prompt of ${name} against the pass-through with it`,
      ...both(gateways, (gateway) => cpu(gateway) / cpu(proxy)),
      ...(gate !== undefined && { gate: ['≤', gate] as const }),
    })
  }
  return rows
}
