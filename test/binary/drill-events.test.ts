import { expect, test } from 'bun:test'
import { drillEvents, eventPoints } from '../../drills/events.ts'
import { noBinary } from '../support/binary.ts'
import { nightly } from '../support/nightly.ts'
import { promise } from '../support/promise.ts'

const rounds = nightly(eventPoints.length, 28)
const events = nightly(100, 1000)

promise`E18 H: Each event is delivered at least once, with one id, in the order of its subject.`
// `bun run drill events` does the same for 1,000 events; so does the nightly tier.
test.skipIf(noBinary)(
  'Through kills of the sender each committed cause is told at least once, with one id and in order; nothing else is.',
  async () => {
    const { killed, faults, causes, messages, repeats } = await drillEvents({ events, rounds })
    expect(faults).toEqual([])
    expect(killed.length).toBeGreaterThanOrEqual(rounds - 2)
    expect(killed.some(({ isHit }) => isHit)).toBe(true)
    expect(causes).toBeGreaterThanOrEqual(events)
    expect(messages).toBeGreaterThanOrEqual(causes)
    expect(repeats).toBeGreaterThanOrEqual(0)
  },
  nightly(180_000, 900_000),
)
