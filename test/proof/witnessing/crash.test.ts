import { expect, setDefaultTimeout, test } from 'bun:test'
import { parseHead } from '../../../src/verify/checkpoint-note.ts'
import { parseNote, parseVkey, verifyNote } from '../../../src/verify/signed-note.ts'
import { nightly } from '../../support/nightly.ts'
import { promise } from '../../support/promise.ts'
import { paperLog } from './paper-log.ts'
import { startWitness } from './process.ts'

setDefaultTimeout(300_000)

promise`H11 C: A witness never signs two histories of a log, also when it is killed.`
test('a witness that is killed while two histories race never signs both of them', async () => {
  const origin = 'log.example/raced'
  const stories = [paperLog(origin), paperLog(origin, { story: 1, parting: 0 })]
  const witness = await startWitness([[origin, stories[0]?.vkey ?? '']])
  const key = parseVkey(witness.vkey)
  if (!key) throw new Error('no key')
  /** Every signature that left the witness: the roots by their sizes. */
  const signed = new Map<bigint, Set<string>>()
  /** Submits the next head; gives the size that the witness then stands at, if it said so. */
  const submit = async (story: number, old: number): Promise<number> => {
    const [log, to] = [stories[story], old + 1]
    if (!log) return old
    const body = log.body(old, to)
    const answer = await fetch(`${witness.url}/add-checkpoint`, { method: 'POST', body }).catch(
      () => undefined,
    )
    const text = await answer?.text().catch(() => undefined)
    if (answer?.status === 409 && text) return Number(text)
    if (answer?.status !== 200 || text === undefined) return old
    const note = parseNote(`${log.note(to)}${text}`)
    const head = note && parseHead(note.text)
    if (!note || !head || verifyNote(note, [key]).signed.length !== 1) throw new Error(text)
    signed.set(head.size, (signed.get(head.size) ?? new Set()).add(head.root.toHex()))
    return to
  }
  try {
    for (let round = 0; round < nightly(6, 60); round++) {
      const done = Promise.all(
        Array.from({ length: 16 }, async (_, i) => {
          let at = 0
          for (let ask = 0; ask < 5; ask++) at = Math.min(62, await submit(i % 2, at))
        }),
      )
      await Bun.sleep(20 + ((round * 37) % 200))
      expect(await witness.restart()).toBe(witness.vkey)
      await done
    }
    // On a slow machine each kill may come before the second signature.
    for (let ask = 0, at = 0; ask < 20 && signed.size < 2; ask++) at = await submit(ask % 2, at)
    expect([...signed.values()].map((roots) => roots.size)).toEqual([...signed].map(() => 1))
    const roots = [...signed].map(([size, found]) => [size, [...found][0]] as const)
    const honest = stories.map((log) =>
      roots.every(([size, root]) => log.rootAt(Number(size)).toHex() === root),
    )
    // All signatures are of one history.
    expect(honest.filter(Boolean).length).toBe(1)
    expect(signed.size).toBeGreaterThan(1)
  } finally {
    await witness.stop()
  }
})
