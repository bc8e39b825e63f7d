import type { Mutant } from './mutants.ts'

/** A mutant with the number by which it is switched on: `__m(7)` is true while 7 is. */
export type Numbered = Mutant & { id: number }

/** A place where mutants stand, and what stands within it. */
type Site = Pick<Mutant, 'from' | 'to' | 'isStatement' | 'isFirst'> & {
  mutants: Numbered[]
  within: Site[]
}

/** A file with all of its mutants in it at once, of which at most one is on at a time. */
export function schemaOf(text: string, mutants: readonly Numbered[]): string {
  const bySpan = Map.groupBy(mutants, ({ from, to, isStatement }) => `${from}-${to}-${isStatement}`)
  const sites = [...bySpan.values()].flatMap((here): Site[] => {
    const first = here[0]
    if (!first) return []
    const { from, to, isStatement, isFirst } = first
    return [{ from, to, isStatement, isFirst, mutants: here, within: [] }]
  })
  // Outer ones first; of a statement that is one expression, the statement.
  sites.sort(
    (a, b) => a.from - b.from || b.to - a.to || Number(b.isStatement) - Number(a.isStatement),
  )
  const top: Site[] = []
  const open: Site[] = []
  for (const site of sites) {
    while (open.length > 0 && (open.at(-1)?.to ?? 0) <= site.from) open.pop()
    ;(open.at(-1)?.within ?? top).push(site)
    open.push(site)
  }
  return print(text, 0, text.length, top) + switchText
}

/** Where a driver is not at work, as in a process that a test starts, all mutants are off. */
const switchText = '\nfunction __m(id) { return globalThis.__mutant?.(id) ?? false }\n'

function print(text: string, from: number, to: number, sites: readonly Site[]): string {
  let printed = ''
  let at = from
  for (const site of sites) {
    printed += text.slice(at, site.from) + printSite(text, site)
    at = site.to
  }
  return printed + text.slice(at, to)
}

function printSite(
  text: string,
  { from, to, isStatement, isFirst, mutants, within }: Site,
): string {
  const original = print(text, from, to, within)
  if (isStatement) {
    const on = mutants.map(({ id }) => `!__m(${id})`)
    return `{if(${on.join('&&')}){${original}}}`
  }
  const choices = mutants.map(({ id, by }) => `__m(${id})?(${by}):`).join('')
  return `${isFirst ? 'void 0,' : ''}(${choices}(${original}))`
}
