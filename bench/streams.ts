import { join } from 'node:path'
import { type Load, runLoad } from './load.ts'
import { usageOf } from './processes.ts'
import { cpuUs, interleave, median, type Pace, perSecond } from './rounds.ts'
import { middle, type Row } from './table.ts'
import { all, both, type Gateways, type Place, type Running, startCounterfoil } from './targets.ts'

type Side = Gateways & { stub: Running; proxy: Running }

const unpacedTokens = 16
const streamsAtOnce = 1000
/** Six seconds of 50 frames each; until all have begun none counts. */
const paced: Load = {
  behaviour: 't300-i20',
  stream: true,
  connections: streamsAtOnce,
  seconds: 6,
  framesAfterSeconds: 1.5,
}

/** Streams as fast as they go: what each costs, its hold and its receipt included. */
export async function measureUnpaced(
  { proxy, ...gateways }: Side,
  { seconds, rounds }: Pace,
): Promise<Row[]> {
  const load: Load = { behaviour: `t${unpacedTokens}`, stream: true, connections: 32, seconds }
  const targets = [proxy, ...all(gateways)]
  const results = await interleave('streams of 16 unpaced frames', { targets, load, rounds })
  const share = (value: typeof cpuUs) => (gateway: Running) =>
    median(results, gateway, value) / median(results, proxy, value)
  return [
    {
      quantity: 'CPU of a stream of 16 unpaced frames against the pass-through',
      ...both(gateways, share(cpuUs)),
      gate: ['≤', 4],
      aim: 3.1,
    },
    {
      quantity: 'unpaced streams a second, by the clock, against it',
      ...both(gateways, share(perSecond)),
    },
  ]
}

/** 1,000 streams at once of 50 frames a second each, on a gateway that did nothing before. */
export async function measurePaced(
  { stub, before }: Side,
  { rounds }: Pace,
  folder: string,
): Promise<Row[]> {
  const place = (name: string): Place => ({ name, folder: join(folder, name) })
  const older = before && { ...place('fresh before'), program: before.program }
  const places = [...(older ? [older] : []), place('fresh')]
  const crowds: Crowd[] = []
  try {
    for (const each of places) crowds.push(await openCrowd(stub, each))
    for (let round = 0; round < rounds; round++) {
      const direct = await loadPaced(stub)
      for (const crowd of crowds) {
        crowd.frames.push((await loadPaced(crowd.running)) / direct)
        crowd.firstPeakMiB ??= usageOf(crowd.running.pid).peakMiB
      }
    }
    return pacedRows(crowds)
  } finally {
    await Promise.all(crowds.map(({ running }) => running.process.stop()))
  }
}

/** A gateway under the paced streams. */
type Crowd = {
  running: Running
  idleMiB: number
  /** After the first few streams: what these load and compile belongs to no stream. */
  warmMiB: number
  /** The peak of its first round. */
  firstPeakMiB: number | undefined
  /** Frames of each round against those without anything between. */
  frames: number[]
}

async function openCrowd(stub: Running, place: Place): Promise<Crowd> {
  const running = await startCounterfoil(stub, place)
  const idleMiB = usageOf(running.pid).rssMiB
  await runLoad(running, { ...paced, connections: 8, seconds: 1 })
  const warmMiB = usageOf(running.pid).rssMiB
  return { running, idleMiB, warmMiB, firstPeakMiB: undefined, frames: [] }
}

function pacedRows(crowds: readonly Crowd[]): Row[] {
  const [after, before] = crowds.toReversed()
  const of = (value: (crowd: Crowd) => number) => ({
    measured: after ? value(after) : 'no gateway',
    before: before && value(before),
  })
  const perStream = ({ firstPeakMiB, warmMiB }: Crowd) =>
    (((firstPeakMiB ?? Number.NaN) - warmMiB) / streamsAtOnce) * 1024
  return [
    {
      quantity: '1,000 streams of 50 frames a second: frames against direct',
      ...of(({ frames }) => middle(frames)),
      gate: ['≥', 0.97],
    },
    { quantity: 'memory a stream, KiB', ...of(perStream), gate: ['≤', 64] },
    { quantity: 'memory idle, MiB', ...of(({ idleMiB }) => idleMiB), gate: ['≤', 80] },
    {
      quantity: 'memory at most under 1,000 streams, MiB',
      ...of(({ running }) => usageOf(running.pid).peakMiB),
      gate: ['≤', 200],
    },
  ]
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
