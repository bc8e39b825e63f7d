import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { refuse } from '../../src/kernel/refusal.ts'
import { byRank, definePart, type Part } from '../../src/ledger/part.ts'
import { openLedger } from '../../src/ledger/post.ts'
import type { UnitOfWork } from '../../src/ledger/unit-of-work.ts'
import { together } from '../../src/storage/db/sql/query-steps.ts'
import { rejectionOf } from '../support/rejection.ts'
import { source } from '../support/source.ts'
import { engines } from '../support/world.ts'
import { newAccount, openOffice } from './office.ts'

/** Parts that note in which order they are loaded and written. */
function notingParts() {
  const notes: string[] = []
  const make = (name: string, rank: number) =>
    definePart({
      name,
      rank,
      empty: () => ({ loaded: new Set<string>(), added: [] as string[] }),
      *load(_, rows, ids: readonly string[]) {
        notes.push(`load ${name}`)
        for (const id of ids) rows.loaded.add(id)
        yield* together([])
      },
      *write(_, rows) {
        notes.push(`write ${name} ${rows.added.join(' ')}`)
        yield* together([])
      },
      kept: (rows) => rows.added,
    })
  return { notes, early: make('early', 1001), late: make('late', 1002) }
}

describe.each(engines)('the parts of commands on %s', (engine) => {
  let office: Awaited<ReturnType<typeof openOffice>>
  beforeAll(async () => {
    office = await openOffice(engine)
  }, 30_000)
  afterAll(() => office.close())

  test('are loaded and written once a batch in the order of their ranks', async () => {
    const { notes, early, late } = notingParts()
    const account = newAccount()
    const second = {
      ...{ account, keys: [], parts: [early.of('b'), late.of('c')] },
      decide(unit: UnitOfWork) {
        unit.part(early).added.push('2')
        return [[...unit.part(early).loaded], unit.part(early).added]
      },
    }
    let waiting: Promise<unknown>[] = []
    await office.ledger.post({
      ...{ account, keys: [] },
      decide: () => {
        if (waiting.length > 0) return
        const first = office.ledger.post({
          ...{ account, keys: [], parts: [late.of('a'), early.of('a')] },
          decide: (unit) => void unit.part(early).added.push('1'),
        })
        waiting = [first, office.ledger.post(second)]
      },
    })
    expect(await Promise.all(waiting)).toEqual([
      undefined,
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ])
    expect(notes).toEqual(['load early', 'load late', 'write early 1 2', 'write late '])
  })

  test('are not there for a command that does not name them', async () => {
    const { early } = notingParts()
    const asking = office.ledger.post({
      ...{ account: newAccount(), keys: [] },
      decide: (unit) => unit.part(early).added.length,
    })
    expect(await rejectionOf(asking)).toMatchObject({ message: 'early were not loaded' })
  })

  test('count as free writes where a part adds rows that stay', async () => {
    const { early } = notingParts()
    const account = newAccount()
    await office.grant(account, 1n)
    const limited = openLedger(office.db, office.clock, undefined, undefined, undefined, {
      ...{ freeWrites: 3, freeBytes: 0, unpaidRuns: 0 },
    })
    const add = (how: (added: string[]) => void) =>
      limited.post({
        ...{ account, keys: [], parts: [early.of('a')] },
        decide: (unit) => how(unit.part(early).added),
      })
    await add((added) => void added.push('1', '2'))
    await add(() => {})
    await add((added) => void added.push('3'))
    expect(await rejectionOf(add(() => refuse('conflict')))).toMatchObject({ type: 'rate_limited' })
  })
})

describe('the ranks of parts', async () => {
  const files = [...source].filter(([, body]) => /= definePart\(/.test(body))
  const parts: Part[] = []
  for (const [file] of files) {
    const exported = Object.values(await import(`../../${file}`)) as Partial<Part>[]
    for (const one of exported) if (typeof one?.rank === 'number') parts.push(one as Part)
  }

  test('differ between all parts of the product', () => {
    expect(parts.length).toBe(files.length)
    expect(new Set(parts.map(({ rank }) => rank)).size).toBe(parts.length)
  })

  test('are refused where two parts of a batch have the same', () => {
    const [one, other] = ['one', 'other'].map((name) =>
      definePart({ name, rank: 1, empty: () => [], write: () => together([]) }),
    )
    if (!one || !other) throw new Error('no parts')
    const both = new Map<Part, undefined>([
      [one, undefined],
      [other, undefined],
    ])
    expect(() => byRank(both)).toThrow('one and other have one rank: 1')
  })
})
