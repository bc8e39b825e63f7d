import { describe, expect, test } from 'bun:test'
import { Glob } from 'bun'
import { actionWords, auditWords, detailText } from '../../../src/front/admin/portal/audit-words.ts'

const folders = 'access,billing,front,ledger,proof,storage'
const noting = /\baction\b|\b(?:auditOf|noteOf|addAudit|noteAction|noteKey|notePlan)\(/
const named = /'((?:[a-z_]+\.[a-z_]+)|grant|refund|sign_in|sign_out)'/g

/** The actions that the product notes, as its source names them: in lines that note one. */
async function notedActions(): Promise<string[]> {
  const found = new Set<string>()
  for (const file of new Glob(`src/{${folders}}/**/*.ts?(x)`).scanSync()) {
    const lines = (await Bun.file(file).text()).split('\n').filter((line) => noting.test(line))
    for (const [, name = ''] of lines.join('\n').matchAll(named)) found.add(name)
  }
  return [...found]
}

describe('the words of the audit log', () => {
  test('name every action that the product notes', async () => {
    const noted = await notedActions()
    expect(noted.length).toBeGreaterThan(30)
    expect(noted.filter((name) => !auditWords.has(name))).toEqual([])
  })

  test('an action of another release is shown by its name', () => {
    expect(actionWords('moon.land_on')).toBe('Moon land on')
    expect(actionWords('constructor')).toBe('Constructor')
  })

  test('details read as words: amounts, hashes, lists and what changed', () => {
    expect(detailText('amount_nusd', '2500000000')).toBe('$2.50')
    expect(detailText('digest', 'ab'.repeat(32))).toBe('ababab…abab')
    const to = { visibility: 'public', sections: ['run', 'charge'], reveal: [] }
    expect(detailText('to', to)).toBe('visibility public; sections run, charge')
    expect(detailText('reason', null)).toBe('none')
    expect(detailText('count', 3)).toBe('3')
  })
})
