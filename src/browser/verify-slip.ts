import type { Json } from '../kernel/canonical.ts'
import { rosettePaths } from '../kernel/rosette.ts'
import { isHidden, parseReceiptFile, type Receipt } from '../verify/receipt.ts'
import type { Verdict } from '../verify/verify.ts'
import { drawing, element } from './dom.ts'
import { kindOf, levelWords } from './verify.ts'

/** The receipt as paper. A stamp is on it only when it is valid; empty for what cannot be read. */
export function slipOf(file: unknown, verdict: Verdict): Node[] {
  const parsed = parseReceiptFile(file)
  if (!parsed.ok) return []
  const { receipt, digest, disclosures } = parsed.file
  const head = element(
    'div',
    { class: 'head' },
    element('small', {}, 'Receipt'),
    element('h2', { class: 'name' }, receipt.id),
    element('span', { class: 'mono small' }, timeOf(receipt.issuedAt)),
    element('span', { class: 'mono small' }, receipt.issuer),
  )
  const texts = (['input', 'output'] as const).flatMap((name) => {
    const value = disclosures?.[name]?.value
    return value === undefined ? [] : [disclosed(name, value)]
  })
  const paper = element(
    'article',
    { class: 'slip' },
    drawing(400, rosettePaths(verdict.digest ?? digest), { class: 'rosette' }),
    head,
    element('dl', {}, ...rowsOf(receipt, verdict)),
    totalOf(receipt.charge),
    ...(texts.length > 0 ? [element('div', { class: 'texts' }, ...texts)] : []),
    footOf(verdict),
  )
  return [paper]
}

function rowsOf({ subject, passport, run, charge, content }: Receipt, verdict: Verdict): Node[] {
  const rows: [name: string, value: string | undefined][] = []
  if (isHidden(run)) rows.push(['Run', undefined])
  else {
    rows.push(['Model', run.model], ['Run', `${run.kind}, ${seconds(run.durationMs)}`])
    rows.push(['Route', run.route], ['Outcome', run.outcome])
  }
  if (isHidden(charge)) rows.push(['Charge', undefined])
  else {
    for (const { meter, quantity, price } of charge.lines) {
      rows.push([titled(meter), `${grouped(quantity)} at ${priceOf(price)}`])
    }
    if (charge.discountBps !== '0') rows.push(['Discount', `${Number(charge.discountBps) / 100} %`])
  }
  if (isHidden(subject)) rows.push(['Paid by', undefined])
  else rows.push(['Paid by', subject.account], ['Key', subject.key])
  if (isHidden(passport)) rows.push(['Passport', undefined])
  else if (passport.handle !== '') rows.push(['Passport', `@${passport.handle}`])
  if (isHidden(content)) rows.push(['Commitments', undefined])
  else
    rows.push(['Input hash', shortHash(content.input)], ['Output hash', shortHash(content.output)])
  rows.push(['Signed by', verdict.signer ?? 'nobody'])
  if (verdict.digest) rows.push(['Digest', verdict.digest])
  return rows.flatMap(([name, value]) => [
    element('dt', {}, name),
    value === undefined
      ? element('dd', { class: 'hid' }, 'hidden by the owner')
      : element('dd', {}, value),
  ])
}

function totalOf(charge: Receipt['charge']): Node {
  const label = element('span', {}, 'Total')
  if (isHidden(charge)) return element('div', { class: 'total' }, label, 'hidden')
  const [whole, small] = usdOf(charge.amount)
  const amount = element('data', { value: charge.amount }, whole, element('small', {}, small))
  return element('div', { class: 'total' }, label, amount)
}

function disclosed(name: 'input' | 'output', value: Json): Node {
  const title = name === 'input' ? 'The input, as disclosed' : 'The output, as disclosed'
  const text = element('pre', {}, JSON.stringify(value, null, 2))
  return element('details', {}, element('summary', {}, title), text)
}

function footOf(verdict: Verdict): Node {
  const words = 'Prompt and answer are on a receipt only as commitments: whoever holds them can '
  const note = element('p', {}, `${words}prove that they match.`)
  if (kindOf(verdict) !== 'good' || verdict.level === null) {
    return element('div', { class: 'foot' }, note)
  }
  const level = element('em', {}, levelWords[verdict.level])
  const stamp = element('div', { class: 'stamp' }, 'Verified', level)
  return element('div', { class: 'foot' }, note, stamp)
}

/** Nano-USD as `$0.09` and the digits below a cent. */
function usdOf(nusd: string): [whole: string, small: string] {
  const digits = nusd.padStart(10, '0')
  const fraction = digits.slice(-9)
  return [
    `$${grouped(digits.slice(0, -9))}.${fraction.slice(0, 2)}`,
    fraction.slice(2).replace(/0+$/, ''),
  ]
}

/** Pico-USD a unit; those of tokens are told a million. */
function priceOf(pusd: string): string {
  const isSmall = BigInt(pusd) < 1_000_000_000n
  const digits = pusd.padStart(13, '0')
  const point = isSmall ? -6 : -12
  const fraction = digits.slice(point).replace(/0+$/, '').padEnd(2, '0')
  const whole = digits.slice(0, point).replace(/^0+(?=\d)/, '')
  return `$${grouped(whole)}.${fraction} ${isSmall ? 'per 1M' : 'each'}`
}

const titled = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1)

const grouped = (digits: string): string => digits.replace(/\B(?=(\d{3})+$)/g, ',')

const shortHash = (hash: string): string =>
  /^0x0+$/.test(hash) ? 'none' : `${hash.slice(0, 10)}…${hash.slice(-8)}`

const seconds = (ms: string): string => `${(Number(ms) / 1000).toFixed(2)} s`

function timeOf(ms: string): string {
  const time = new Date(Number(ms))
  return Number.isNaN(time.getTime()) ? `${ms} ms` : time.toISOString().replace('T', ' ')
}
