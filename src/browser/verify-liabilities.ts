/** Shows what the offline verifier found about a proof of liabilities. */
import { toUsd } from '../kernel/money.ts'
import { toChecksumAddress } from '../verify/address.ts'
import { type LiabilitiesCheck, parseLiabilitiesFile } from '../verify/liabilities.ts'
import { liabilityTitle, liabilityVerdict } from '../verify/shown-liabilities.ts'
import { element } from './dom.ts'
import { figureOf, timeOf } from './verify-slip.ts'
import { checkLists, list, noteOf } from './verify-verdict.ts'

/** The verdict in words, each check, and what follows from it. */
export function liabilitiesVerdict(checks: readonly LiabilitiesCheck[]): Node[] {
  const { kind, headline, summary } = liabilityVerdict(checks)
  const isCounted = checks.some(({ name, status }) => name === 'sum' && status === 'pass')
  return [
    noteOf(kind, headline, summary),
    ...checkLists(checks.map((check) => ({ ...check, title: liabilityTitle(check) }))),
    ...list('What it proves', kind === 'good' ? (isCounted ? [total, counted] : [total]) : []),
    ...list('What it does not prove', kind === 'bad' ? [] : [money, others]),
  ]
}

const total = 'The trusted key signed this total, and its statement is in the log.'
const counted = 'The total counts this account with this balance.'
const money = 'That the service holds so much: ask the chain for its treasury.'
const others = 'That all other accounts are counted: each checks its own proof.'

/** The statement as paper, stamped only when it is valid; empty for what cannot be read. */
export function liabilitiesSlip(value: unknown, checks: readonly LiabilitiesCheck[]): Node[] {
  const file = parseLiabilitiesFile(value, [])
  if (!file || checks.some(({ name, status }) => name === 'schema' && status === 'fail')) return []
  const { statement, own } = file
  const { kind, headline } = liabilityVerdict(checks)
  const rows: (readonly [name: string, value: string])[] = [
    ...(own ? [['Account', toChecksumAddress(own.account)] as const] : []),
    ['Total liabilities', usd(statement.total_nusd)],
    ['In the treasury', statement.block === '0' ? 'not read' : usd(statement.treasury_nusd)],
    ['Place in the log', file.log.index],
    ['Root', statement.root],
  ]
  const head = element(
    'div',
    { class: 'head' },
    element('small', {}, 'Liabilities'),
    element('h2', { class: 'name' }, `Statement ${statement.number}`),
    element('span', { class: 'mono small' }, timeOf(statement.as_of)),
    element('span', { class: 'mono small' }, statement.issuer),
  )
  const cells = rows.flatMap(([name, text]) => [element('dt', {}, name), element('dd', {}, text)])
  const sum = own
    ? element('div', { class: 'total' }, element('span', {}, 'Your balance'), usd(own.balance_nusd))
    : element('div', { class: 'total' }, element('span', {}, 'Total'), usd(statement.total_nusd))
  const note = element('p', {}, 'Others learn the total from a statement, not who has what.')
  const stamp =
    kind === 'good'
      ? [element('div', { class: 'stamp' }, 'Verified', element('em', {}, headline))]
      : []
  return [
    element(
      'article',
      { class: 'slip' },
      figureOf(statement.root),
      head,
      element('dl', {}, ...cells),
      sum,
      element('div', { class: 'foot' }, note, ...stamp),
    ),
  ]
}

const usd = (nusd: string): string => `$${toUsd(BigInt(nusd))}`
