import { expect, test } from 'bun:test'
import { LostLease } from '../../../src/kernel/lost-lease.ts'
import { StorageFault } from '../../../src/kernel/storage-fault.ts'
import { sequencer } from '../../../src/proof/log/sequence.ts'
import type { LogStore } from '../../../src/proof/log/store.ts'
import { until } from '../../support/runs.ts'

/** A sequencer over a log that does as it is told, and what was asked about that. */
function sequencerOn(number: (time: number) => Promise<number>, mayNumber = true) {
  const asked = { leases: 0, numbered: 0, told: 0, errors: [] as unknown[] }
  let monotonic = 10_000
  const store: Pick<LogStore, 'takeLease' | 'number' | 'tellHolder'> = {
    takeLease: async () => {
      asked.leases++
      return mayNumber ? { name: 'sequencer', epoch: 1 } : undefined
    },
    number: () => number(asked.numbered++),
    tellHolder: async () => void asked.told++,
  }
  const quiet = () => {}
  const error = (_: string, what: unknown) => void asked.errors.push(what)
  const made = sequencer({
    store: store as LogStore,
    log: { debug: quiet, info: quiet, warn: quiet, error },
    clock: { monotonic: () => monotonic },
  })
  const pass = (ms: number): void => {
    monotonic += ms
  }
  return { ...made, asked, pass }
}

const none = async () => 0

test('takes its lease once, and renews it after three seconds', async () => {
  const one = sequencerOn(none)
  await one.flush()
  one.pass(3000)
  await one.flush()
  expect(one.asked).toMatchObject({ leases: 1, numbered: 2 })
  one.pass(1)
  await one.flush()
  expect(one.asked).toMatchObject({ leases: 2, numbered: 3 })
})

test('numbers batch by batch until one is not full', async () => {
  const one = sequencerOn(async (time) => (time < 2 ? 256 : 255))
  await one.flush()
  expect(one.asked.numbered).toBe(3)
})

test('without the lease numbers nothing, and tells the holder', async () => {
  const one = sequencerOn(none, false)
  await one.flush()
  expect(one.asked).toMatchObject({ leases: 1, numbered: 0, told: 1 })
})

test('asks no more for a lease that another node holds, however many runs end, until its job comes', async () => {
  const one = sequencerOn(none, false)
  await one.flush()
  for (const told of [2, 3]) {
    one.wake()
    await until('a pass', () => one.asked.told === told)
  }
  expect(one.asked).toMatchObject({ leases: 1, numbered: 0 })
  await one.flush()
  expect(one.asked.leases).toBe(2)
})

test('tries again at once when its lease was lost, and with nothing else', async () => {
  const lost = sequencerOn(async (time) => {
    if (time === 0) throw new LostLease('test')
    return 0
  })
  await lost.flush()
  expect(lost.asked).toMatchObject({ leases: 2, numbered: 2, errors: [] })
  const broken = sequencerOn(async () => {
    throw new Error('broken')
  })
  await broken.flush()
  expect(broken.asked).toMatchObject({ leases: 1, numbered: 1 })
  expect(broken.asked.errors.map(String)).toEqual(['Error: broken'])
})

test('logs no fault of storage, which is told elsewhere, and none after its end', async () => {
  const faulty = sequencerOn(async () => {
    throw new StorageFault('storage_full', 'SQLITE_FULL')
  })
  await faulty.flush()
  expect(faulty.asked.errors).toEqual([])
  const stopped = sequencerOn(async () => {
    throw new Error('closed')
  })
  await stopped.stop()
  await stopped.flush()
  expect(stopped.asked).toMatchObject({ numbered: 1, errors: [] })
})

test('woken any number of times, numbers once; after its end, never', async () => {
  const one = sequencerOn(none)
  for (let i = 0; i < 5; i++) one.wake()
  await until('a pass', () => one.asked.numbered > 0)
  await Bun.sleep(30)
  expect(one.asked.numbered).toBe(1)
  one.wake()
  await until('the next pass', () => one.asked.numbered === 2)
  await one.stop()
  one.wake()
  await Bun.sleep(30)
  expect(one.asked.numbered).toBe(2)
})

test('hears of the receipts of other nodes only while it is the one that numbers', async () => {
  const other = sequencerOn(none, false)
  await other.flush()
  other.hear()
  await Bun.sleep(30)
  expect(other.asked).toMatchObject({ leases: 1, told: 1 })
  const one = sequencerOn(none)
  await one.flush()
  one.hear()
  await until('a pass', () => one.asked.numbered === 2)
})
