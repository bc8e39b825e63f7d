/** Shows the verdict of the offline verifier. */
import type { CheckStatus, Outcome } from '../verify/checks.ts'
import type { VerdictKind } from '../verify/verdict-words.ts'
import type { Level, Verdict } from '../verify/verify.ts'
import { drawing, element } from './dom.ts'
import { evidenceOf, headlineOf, kindOf, levelWords, summaryOf, titleOf } from './verify.ts'

/** A verdict as a page shows it: the line above all, each check in words, what follows from it. */
export function verdictOf(verdict: Verdict): Node[] {
  return [
    noteOf(kindOf(verdict), headlineOf(verdict), summaryOf(verdict)),
    ...levels(verdict.level),
    element('p', { class: 'evidence' }, evidenceOf(verdict)),
    ...checkLists(verdict.checks.map((check) => ({ ...check, title: titleOf(check) }))),
    ...list('What it proves', verdict.proves),
    ...list('What it does not prove', verdict.does_not_prove),
  ]
}

/** The line above all checks. */
export const noteOf = (kind: VerdictKind, headline: string, summary: string): Node =>
  element(
    'div',
    { class: `note ${kind}` },
    element('h2', { id: 'verdictTitle' }, headline),
    element('p', {}, summary),
  )

/** A check with its title in words. */
type TitledCheck = Outcome & { name: string; title: string }

/** The checks that were made, and folded those that were not asked for. */
export function checkLists(checks: readonly TitledCheck[]): Node[] {
  const isSkipped = ({ status }: TitledCheck) => status === 'skip'
  const listOf = (some: readonly TitledCheck[]) =>
    element('ul', { class: 'checks', role: 'list' }, ...some.map(checkOf))
  const skipped = checks.filter(isSkipped)
  const summary = element('summary', {}, `Not asked: ${skipped.length}`)
  const told = checks.filter((check) => !isSkipped(check))
  return [listOf(told), element('details', {}, summary, listOf(skipped))]
}

const order: readonly Level[] = ['signed', 'logged', 'anchored', 'final']
const levelSteps = ['Signed', 'Logged', 'Anchored', 'Final']

/** How far the evidence reaches, of four. */
function levels(level: Level | null): Node[] {
  if (level === null) return []
  const reached = order.indexOf(level)
  const steps = levelSteps.map((word, i) => element('li', { class: i <= reached && 'on' }, word))
  const label = `Level ${reached + 1} of 4: ${levelWords[level]}`
  return [element('ol', { class: 'levels', role: 'list', 'aria-label': label }, ...steps)]
}

function checkOf({ name, status, reason, title: words }: TitledCheck): Node {
  const icon = drawing(24, [icons[status]], {})
  const said = element('span', { class: 'vh' }, ` (${statusWords[status]})`)
  const title = element('strong', {}, words, said)
  const attributes = { class: status, 'data-check': name, 'data-status': status }
  return element('li', attributes, icon, title, element('small', {}, reason))
}

export function list(title: string, items: readonly string[]): Node[] {
  if (items.length === 0) return []
  const rows = items.map((item) => element('li', {}, item))
  return [element('h3', {}, title), element('ul', { class: 'says' }, ...rows)]
}

const icons: Record<CheckStatus, string> = {
  pass: 'M4 12.5l5 5L20 6.5',
  fail: 'M6 6l12 12M18 6L6 18',
  skip: 'M6 12h12',
  unavailable: 'M8.5 8.5a3.5 3.5 0 1 1 5 3.2c-1 .5-1.5 1.2-1.5 2.8M12 19v.01',
}

const statusWords: Record<CheckStatus, string> = {
  pass: 'holds',
  fail: 'does not hold',
  skip: 'not asked',
  unavailable: 'could not be checked',
}
