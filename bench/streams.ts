import { type Load, runLoad } from './load.ts'
import { usageOf } from './processes.ts'
import { cpuUs, interleave, median, type Pace, perSecond } from './rounds.ts'
import { middle, type Row } from './table.ts'
import { type Running, startCounterfoil } from './targets.ts'

type Side = { stub: Running; proxy: Running; gateway: Running }

const unpacedTokens = 16
const crowd = 1000
/** Six seconds of 50 frames each; until all have begun none counts. */
const paced: Load = {
  behaviour: 't300-i20',
  stream: true,
  connections: crowd,
  seconds: 6,
  framesAfterSeconds: 1.5,
}

/** Streams as fast as they go: what each costs, its hold and its receipt included. */
export async function measureUnpaced(
  { proxy, gateway }: Side,
  { seconds, rounds }: Pace,
): Promise<Row[]> {
  const load: Load = { behaviour: `t${unpacedTokens}`, stream: true, connections: 32, seconds }
  const targets = [proxy, gateway]
  const results = await interleave('streams of 16 unpaced frames', { targets, load, rounds })
  const share = (value: typeof cpuUs) =>
    median(results, gateway, value) / median(results, proxy, value)
  return [
    {
      quantity: 'unpaced streams a second of CPU against the pass-through',
      measured: 1 / share(cpuUs),
      target: ['≥', 0.6],
    },
    { quantity: 'unpaced streams a second, by the clock, against it', measured: share(perSecond) },
  ]
}

/** 1,000 streams at once of 50 frames a second each, on a gateway that did nothing before. */
export async function measurePaced(
  { stub }: Side,
  { rounds }: Pace,
  folder: string,
): Promise<Row[]> {
  const fresh = await startCounterfoil(stub, { name: 'fresh', folder })
  try {
    const idleMiB = usageOf(fresh.pid).rssMiB
    // What the first runs load and compile is no stream's.
    await runLoad(fresh, { ...paced, connections: 8, seconds: 1 })
    const before = usageOf(fresh.pid).rssMiB
    const frames: number[] = []
    let first = 0
    for (let round = 0; round < rounds; round++) {
      const direct = await loadPaced(stub)
      const ours = await loadPaced(fresh)
      frames.push(ours / direct)
      if (round === 0) first = usageOf(fresh.pid).peakMiB
    }
    return [
      {
        quantity: '1,000 streams of 50 frames a second: frames against direct',
        measured: middle(frames),
        target: ['≥', 0.95],
      },
      {
        quantity: 'memory a stream, KiB',
        measured: ((first - before) / crowd) * 1024,
        target: ['≤', 64],
      },
      { quantity: 'memory idle, MiB', measured: idleMiB, target: ['≤', 80] },
      {
        quantity: 'memory at most under 1,000 streams, MiB',
        measured: usageOf(fresh.pid).peakMiB,
        target: ['≤', 200],
      },
    ]
  } finally {
    await fresh.process.stop()
  }
}

async function loadPaced(target: Running): Promise<number> {
  const { framesPerSecond, after, errors } = await runLoad(target, paced)
  const failed = Object.entries(errors).map(([what, count]) => `  ${what}: ${count}`)
  const memory = `${after?.rssMiB.toFixed(0)} MiB`
  console.log(
    `  ${target.name.padEnd(15)}${framesPerSecond.toFixed(0)} frames/s  ${memory}${failed}`,
  )
  return framesPerSecond
}
