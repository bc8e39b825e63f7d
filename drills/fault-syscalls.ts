/** The n-th system call on the way to the disk fails, or is the last one of the process. */
import { type Asked, askAll } from './asked.ts'
import { type Bench, startOn } from './fault-bench.ts'
import { gatedModel } from './fault-gate.ts'
import {
  countOf,
  type Injection,
  inject,
  judgeAnew,
  judgeKilled,
  type Row,
  readFaults,
  readyOf,
  untilReady,
} from './fault-tools.ts'

const stops =
  'the transaction is not acknowledged; from then on every write is 503 `storage_failed` until a ' +
  'restart, reads go on'

/** A call that fails once with an error that says nothing good about the disk. */
export async function failOnce(bench: Bench, injection: Injection): Promise<Row> {
  const server = await startOn(bench)
  const strace = await inject(bench, server, injection)
  const asked = await askAll(bench, server)
  // A job may have met it where no client did; the next client is told.
  const later = await askAll(bench, server, { clients: 1, each: 2 })
  const ready = await readyOf(server)
  const faults = await readFaults(bench, server)
  const hits = await strace.stop()
  const all = [...asked, ...later]
  faults.push(...acknowledgedAfter(all, 'storage_failed'))
  if (hits === 0) faults.push('nothing was injected')
  if (ready !== 'storage_failed') faults.push(`/readyz says ${ready}`)
  if (later.some(({ status }) => status !== 503)) faults.push('a write was taken afterwards')
  faults.push(...(await judgeKilled(bench, server)))
  // A COMMIT whose sync failed may be in the log all the same; its clients were told about doubt.
  const stored = all.filter(({ paid, isReplayed }) => !paid && isReplayed).length
  const seen = `${countOf(all)}; ${stored} in doubt turned out to be stored`
  return { fault: nameOf(injection), expected: stops, seen, faults }
}

/** A disk that is full for some calls. */
export async function fullFor(bench: Bench, injection: Injection): Promise<Row> {
  const server = await startOn(bench)
  const strace = await inject(bench, server, injection)
  const asked = await askAll(bench, server, { clients: 4, each: 12 })
  const faults = await readFaults(bench, server)
  const hits = await strace.stop()
  if (hits === 0) faults.push('nothing was injected')
  if (!asked.some(({ reason }) => reason === 'storage_full'))
    faults.push('no answer named storage_full')
  const after = await askAll(bench, server, { clients: 2, each: 2 })
  if (after.some(({ paid }) => !paid)) faults.push(`it did not recover: ${countOf(after)}`)
  const ready = await untilReady(server, 'ok')
  if (ready !== 'ok') faults.push(`/readyz says ${ready}`)
  faults.push(...(await judgeKilled(bench, server)))
  const seen = `${hits} calls failed: ${countOf(asked)}; then ${countOf(after)}, no restart`
  const expected = '503 `storage_full`, nothing charged, reads go on; over by itself'
  return { fault: nameOf(injection), expected, seen, faults }
}

/** The process ends at a call; the next one holds what was acknowledged, once. */
export async function killAt(bench: Bench, injection: Injection): Promise<Row> {
  const server = await startOn(bench)
  const strace = await inject(bench, server, injection)
  const asked = await askAll(bench, server, { clients: 3, each: 8 })
  // Without so many calls it lives; the jobs make some more.
  const end = await Promise.race([server.exited, Bun.sleep(5000)])
  await server.stop('SIGKILL')
  await strace.stop()
  const faults = end === undefined ? ['it was not killed'] : []
  faults.push(...(await judgeAnew(bench)))
  const expected = 'a restart holds every acknowledged answer; nothing is charged twice'
  return { fault: nameOf(injection), expected, seen: countOf(asked), faults }
}

/** As {@link killAt}, from the moment on at which all runs have their holds: the calls of ends. */
export async function killEnding(bench: Bench, injection: Injection): Promise<Row> {
  const { gate } = bench
  const server = await startOn(bench)
  gate.close()
  const asking = askAll(bench, server, { clients: 2, each: 1, model: gatedModel, streams: false })
  while (gate.waiting() < 2) await Bun.sleep(5)
  const strace = await inject(bench, server, injection)
  gate.open()
  const asked = await asking
  const end = await Promise.race([server.exited, Bun.sleep(5000)])
  await server.stop('SIGKILL')
  await strace.stop()
  const faults = end === undefined ? ['it was not killed'] : []
  faults.push(...(await judgeAnew(bench)))
  const stored = asked.filter(({ paid, isReplayed }) => !paid && isReplayed).length
  const expected = 'what was stored and not answered is told to who asks again, charged once'
  const seen = `${countOf(asked)}; ${stored} were stored before the kill`
  return { fault: `${nameOf(injection)} from the holds on`, expected, seen, faults }
}

/** No request that was sent after someone was told may have been answered as stored. */
function acknowledgedAfter(asked: Asked[], reason: string): string[] {
  const told = asked.filter((one) => one.reason === reason)
  const since = Math.min(...told.map(({ endedAt }) => endedAt))
  const after = asked.filter(({ sentAt, paid }) => paid && sentAt > since)
  return after.map(({ paid }) => `${paid?.runId} was acknowledged afterwards`)
}

const nameOf = ({ calls, what }: Injection): string => `\`${calls}:${what}\``
