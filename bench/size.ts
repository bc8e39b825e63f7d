import { join } from 'node:path'
import { measureIn } from './child.ts'
import { copyGrown, grownEnv } from './grown-db.ts'
import type { Pace } from './rounds.ts'
import { middle, type Row } from './table.ts'
import { measureStart } from './targets.ts'

const starts = 5

/** What grows with what is stored, and what must not: 10^6 receipts and 10^5 keys. */
export async function measureSize({ seconds, rounds }: Pace, folder: string): Promise<Row[]> {
  const place = { folder: join(folder, 'grown'), env: grownEnv }
  const data = join(place.folder, 'data')
  await copyGrown(data)
  const startsMs: number[] = []
  const emptyMs: number[] = []
  for (let i = 0; i < starts; i++) {
    startsMs.push(await measureStart(place))
    emptyMs.push(await measureStart({ folder: join(folder, `empty-${i}`) }))
  }
  console.log(`starts, ms: ${startsMs.map((ms) => ms.toFixed(0)).join(' ')}`)
  const file = join(data, 'counterfoil.db')
  const other = (name: string) => join(folder, name)
  const { cachedUs } = await measureIn<{ cachedUs: number }>('auth.ts', file, rounds)
  const settle = await measureIn<{ share: number }>(
    'settle.ts',
    file,
    other('settle.db'),
    seconds,
    rounds,
  )
  const log = await measureIn<{ append: number; proof: number }>(
    'log-size.ts',
    file,
    other('log.db'),
    rounds,
  )
  return [
    {
      quantity: 'cost of a settle at 10^6 receipts against none',
      measured: settle.share,
      gate: ['≤', 1.6],
    },
    {
      quantity: 'cost of a log append at 10^6 leaves against 10^3',
      measured: log.append,
      gate: ['≤', 1.1],
    },
    {
      quantity: 'cost of a proof at 10^6 leaves against 10^3',
      measured: log.proof,
      gate: ['≤', 2.5],
    },
    {
      quantity: 'authentication at 10^5 keys in trees of five levels, µs CPU',
      measured: cachedUs,
      gate: ['≤', 1],
    },
    {
      quantity: 'start to first answer with 10^5 keys and 10^6 receipts, ms',
      measured: middle(startsMs),
      gate: ['≤', 300],
    },
    {
      quantity: 'start to first answer, empty database, ms',
      measured: middle(emptyMs),
      gate: ['≤', 150],
    },
  ]
}
