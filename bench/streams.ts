import { join } from 'node:path'
import { type Load, runLoad } from './load.ts'
import { anonPeakOf, usageOf } from './processes.ts'
import { cpuUs, interleave, median, type Pace } from './rounds.ts'
import { middle, type Row } from './table.ts'
import { all, both, type Gateways, type Place, type Running, startCounterfoil } from './targets.ts'

type Side = Gateways & { stub: Running; proxy: Running }

const unpacedTokens = 16
const streamsAtOnce = 1000
const fewerAtOnce = 250
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
  const share = (gateway: Running) =>
    median(results, gateway, cpuUs) / median(results, proxy, cpuUs)
  return [
    {
      quantity: 'CPU of a stream of 16 unpaced frames against the pass-through',
      ...both(gateways, share),
      gate: ['≤', 4],
      aim: 3.1,
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
        const loading = loadPaced(crowd.running)
        const peakMiB = await anonPeakOf(crowd.running.pid, loading)
        crowd.frames.push((await loading) / direct)
        crowd.firstPeakMiB ??= peakMiB
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
  /** The most under a quarter of the streams: what is loaded and compiled belongs to no stream. */
  fewerMiB: number
  /** The most of its first round. */
  firstPeakMiB: number | undefined
  /** Frames of each round against those without anything between. */
  frames: number[]
}

async function openCrowd(stub: Running, place: Place): Promise<Crowd> {
  const running = await startCounterfoil(stub, place)
  const idleMiB = usageOf(running.pid).anonMiB
  const fewer = runLoad(running, { ...paced, connections: fewerAtOnce })
  const fewerMiB = await anonPeakOf(running.pid, fewer)
  return { running, idleMiB, fewerMiB, firstPeakMiB: undefined, frames: [] }
}

function pacedRows(crowds: readonly Crowd[]): Row[] {
  const [after, before] = crowds.toReversed()
  const of = (value: (crowd: Crowd) => number) => ({
    measured: after ? value(after) : 'no gateway',
    before: before && value(before),
  })
  const perStream = ({ firstPeakMiB = Number.NaN, fewerMiB }: Crowd) =>
    ((firstPeakMiB - fewerMiB) / (streamsAtOnce - fewerAtOnce)) * 1024
  return [
    {
      quantity: '1,000 streams of 50 frames a second: frames against direct',
      ...of(({ frames }) => middle(frames)),
      gate: ['≥', 0.97],
    },
    {
      quantity: 'memory a stream from 250 to 1,000 of them, KiB (RssAnon)',
      ...of(perStream),
      gate: ['≤', 64],
    },
    { quantity: 'memory idle, MiB (RssAnon)', ...of(({ idleMiB }) => idleMiB), gate: ['≤', 25] },
    {
      quantity: 'memory at most under 1,000 streams, MiB (VmHWM)',
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
