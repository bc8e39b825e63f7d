import { any, nothing, type Row } from './explained-verify.ts'

/** Of statements of what is owed, and of manifests. */
export const ofOwed: Record<string, Row[]> = {
  'src/verify/manifest.ts': [
    ['return problems.length > 0 ? undefined', /one more/, 'The caller looks at the problems too.'],
  ],
  'src/verify/sum-tree.ts': [
    [
      'if (index < 0n || path.length > mostLevels',
      /&&/,
      'A negative index never becomes 0 by a shift.',
    ],
    ['if (![left, right].every(isNode)', />= to >/, 'The next step refuses a sum of that size.'],
  ],
  'src/front/audit/check-owed.ts': [
    ['return one && other &&', /&& to/, 'There are always both; it is there for the type.'],
  ],
  'src/proof/liabilities/store.ts': [
    ['.where(and(lt(asOf, before), isNotNull(seed)))', any, nothing],
    ['db.read((q) => first(newestFirst(q)', /one more/, 'The first of two is the first of one.'],
    ['const counted = Number(', /one more/, 'There is always a count.'],
  ],
}
