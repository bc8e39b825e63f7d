import { any, nothing, type Row } from './explained-verify.ts'

/** Of liabilities statements, and of manifests. */
export const liabilitiesRows: Record<string, Row[]> = {
  'src/verify/manifest.ts': [
    ['if (!manifest ||', any, 'One with problems is read as undefined already.'],
    ['return problems.length > 0 ? undefined', /one more/, 'The caller looks at the problems too.'],
  ],
  'src/verify/shown-liabilities.ts': [
    ['const isSigned = ', /&& to/, 'One list of signers decides both, or neither.'],
  ],
  'src/verify/sum-tree.ts': [
    [
      'if (index < 0n || path.length > mostLevels',
      /&&/,
      'A negative index never becomes 0 by a shift.',
    ],
    ['if (![left, right].every(isNode)', />= to >/, 'The next step refuses a sum of that size.'],
  ],
  'src/storage/liabilities/sort-leaves.ts': [
    ['for (let at = 0;', /one more/, 'There is always a byte: the other value is for the type.'],
  ],
  'src/proof/audit/check-statements.ts': [
    ['return one && other &&', /&& to/, 'There are always both; it is there for the type.'],
  ],
  'src/proof/liabilities/store.ts': [
    ['.where(and(lt(asOf, before), isNotNull(seed)))', any, nothing],
    ['db.read((q) => first(newestFirst(q)', /one more/, 'The first of two is the first of one.'],
    ['const pageAccounts', any, 'How many are read at once is not promised.'],
    ['const dropBatch', any, 'How many go at once is not promised.'],
    ['const counted = Number(', /one more/, 'There is always a count.'],
  ],
}
