/** Reads the forms of keys, and fills them with the values of a key. */
import type { Millis } from '../../../kernel/clock.ts'
import { max, type Nusd, toUsd } from '../../../kernel/money.ts'
import { type Refusal, refuseField } from '../../../kernel/refusal.ts'
import { capWindows } from '../../../ledger/window.ts'
import type { KeyRow } from '../../../storage/db/schema/schema.ts'
import type { Draft } from '../../../web/http/fields.ts'
import { amountText } from '../../../web/ui/amount.tsx'
import type { ErrorOf } from '../../../web/ui/form.tsx'
import { dateText } from '../../../web/ui/when.tsx'
import type { KeyChange } from '../change.ts'
import type { KeyRequest } from '../issue.ts'
import { dayMs, maxLifeMs, type Scope, scopes } from '../key.ts'
import { everyLimit, type LimitsChange, readUsd } from '../key-limits.ts'
import { readTime } from '../key-request.ts'
import { keyForm } from './key-fields.ts'

const known = new Set(Object.keys(keyForm.properties))

/** @throws Refusal `invalid_request` whose `param` is a field of the form */
export function readNewKey(
  draft: Draft,
  { parent, now }: { parent: KeyRow | undefined; now: Millis },
): Omit<KeyRequest, 'account' | 'actor'> {
  assertKnown(draft)
  const { name = '', parent_id: parentId, window = 'lifetime' } = draft
  if (name === '') no('name', 'Enter a name.')
  const capWindow = capWindows.find((one) => one === window)
  if (!capWindow) no('window', `Choose one of: ${capWindows.join(', ')}.`)
  const capLimit = readCap(draft['cap'], parent)
  const expiresAt = readExpiry(draft, parent?.expiresAt, now)
  return {
    name,
    parentId: parentId === '' ? undefined : parentId,
    capLimit,
    capWindow,
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...readRights(draft),
  }
}

/**
 * The changes of a form: fields equal to the shown value are left out.
 * @throws Refusal `invalid_request` whose `param` is a field of the form
 */
export function readKeyChange(
  draft: Draft,
  { key, parent, now }: { key: KeyRow; parent: KeyRow | undefined; now: Millis },
): KeyChange {
  assertKnown(draft)
  for (const fixed of ['parent_id', 'window']) {
    if (draft[fixed] !== undefined) no(fixed, 'This cannot be changed. Create another key.')
  }
  const shown = toDraft(key)
  const isSame = (name: string) => draft[name] === undefined || draft[name] === shown[name]
  const fresh = Object.fromEntries(Object.entries(draft).filter(([name]) => !isSame(name)))
  // Browsers leave out unchecked boxes, so the boxes are read together.
  const asked = draft['scopes_from'] ? { ...fresh, ...boxesOf(draft) } : fresh
  const expiresAt = readExpiry(fresh, parent?.expiresAt, now)
  const { scopes: wished, ...rest } = readRights(asked)
  return {
    ...(fresh['name'] === undefined ? {} : { name: fresh['name'] }),
    ...(fresh['cap'] === undefined ? {} : { capLimit: readCap(fresh['cap'], parent) }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(wished && wished.join() !== key.scopes.join() ? { scopes: wished } : {}),
    ...rest,
  }
}

const boxesOf = (draft: Draft): Draft =>
  Object.fromEntries(Object.entries(draft).filter(([name]) => name.startsWith('scope')))

/** The form's values of a key. */
export const toDraft = (key: KeyRow): Draft => ({
  name: key.name,
  cap: toUsd(key.capLimit),
  expires_on: lastDayOf(key.expiresAt),
  models: key.models.join('\n'),
  ...Object.fromEntries(key.scopes.map((scope) => [`scope.${scope}`, 'true'])),
  ip_cidrs: key.ipCidrs.join('\n'),
  tags: tagsText(key.tags),
  ...Object.fromEntries(
    everyLimit.map(([column, { field, writeField }]) => {
      const value = key[column]
      return [field.name, value === null ? '' : writeField(value)]
    }),
  ),
  brake_per_minute: key.brakeMinute === null ? '' : toUsd(key.brakeMinute),
  brake_per_hour: key.brakeHour === null ? '' : toUsd(key.brakeHour),
  brake_running: key.brakeRunning === 'stop' ? 'stop' : '',
})

/** One a line. A name that contains "=" cannot be written this way: {@link areWritable}. */
const tagsText = (tags: Record<string, string>): string =>
  Object.entries(tags)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n')

export const areWritable = (tags: Record<string, string>): boolean =>
  Object.keys(tags).every((name) => !name.includes('=') && name.trim() === name)

/** The error of a field. */
export const errorOf: ErrorOf = (refusal, field) => {
  const { param, metadata } = refusal?.detail ?? {}
  if (!refusal || param === undefined || fieldOf(param) !== field) return undefined
  const least = metadata?.['smallest_nusd']
  if (typeof least !== 'number') return refusal.message
  return `The key has spent and holds ${amountText(BigInt(least))}. Enter at least that.`
}

/** Whether the form shows the refusal at a field; others are shown above the form. */
export const isOfField = (refusal: Refusal | undefined): boolean =>
  known.has(fieldOf(refusal?.detail.param ?? ''))

const fields: Readonly<Record<string, string>> = {
  'cap.limit_nusd': 'cap',
  'cap.window': 'window',
  expires_at: 'expires_on',
  ...Object.fromEntries(
    everyLimit.map(([, { member, field }]) => [`limits.${member}`, field.name]),
  ),
  'limits.brake.nusd_per_minute': 'brake_per_minute',
  'limits.brake.nusd_per_hour': 'brake_per_hour',
}
const fieldOf = (param: string): string => fields[param] ?? param

function assertKnown(draft: Draft): void {
  const unknown = Object.keys(draft).find((name) => !known.has(name))
  if (unknown !== undefined) no(unknown.slice(0, 64), 'This form does not have this field.')
}

function readCap(text: string | undefined, parent: KeyRow | undefined): Nusd {
  const cap = readUsd('cap', text ?? '')
  if (!parent || cap <= parent.capLimit) return cap
  no('cap', `The parent’s cap is ${amountText(parent.capLimit)}. Enter at most that.`)
}

/** The end of a day, or a number of days from now; undefined if neither is set. */
function readExpiry(draft: Draft, parentEnd: Millis | undefined, now: Millis): Millis | undefined {
  const { expires_on: day = '', expires = '' } = draft
  const wished = day === '' ? expires.trim() : day.trim()
  if (wished === '') return undefined
  const latest = Math.min(now + maxLifeMs, parentEnd ?? Number.POSITIVE_INFINITY)
  const field = day === '' ? 'expires' : 'expires_on'
  const at = readEnd(field, wished, latest, now)
  if (at <= now) no(field, 'Choose a day in the future.')
  if (at <= latest) return at
  const why = latest === parentEnd ? 'The parent expires' : 'Keys expire'
  no(field, `${why} on ${dateText(latest)} at the latest. Choose an earlier day.`)
}

function readEnd(field: string, wished: string, latest: Millis, now: Millis): Millis {
  const days = /^(\d{1,4})d?$/.exec(wished)?.[1]
  if (days !== undefined) return now + Number(days) * dayMs
  if (!/^\d{4}-\d\d-\d\d$/.test(wished)) {
    if (wished.includes('T')) return readTime(wished)
    return no(field, 'Enter a day as 2027-01-31, or a number of days.')
  }
  const midnight = readTime(`${wished}T00:00:00Z`)
  const end = midnight + dayMs
  // On the last possible day the key expires with its parent, not at midnight.
  return end > latest && midnight < latest ? latest : end
}

/** The last day on which a key works, in UTC. */
const lastDayOf = (expiresAt: Millis): string => new Date(expiresAt - 1).toISOString().slice(0, 10)

function readRights(draft: Draft): Omit<KeyChange, 'name' | 'capLimit' | 'expiresAt'> & {
  scopes?: Scope[]
} {
  const wished = readScopes(draft)
  return {
    ...(wished === undefined ? {} : { scopes: wished }),
    ...(draft['models'] === undefined ? {} : { models: wordsOf(draft['models']) }),
    ...(draft['ip_cidrs'] === undefined ? {} : { ipCidrs: wordsOf(draft['ip_cidrs']) }),
    ...(draft['tags'] === undefined ? {} : { tags: readTags(draft['tags']) }),
    ...readLimits(draft),
    ...readBrake(draft),
  }
}

/** From the boxes if the form has them, else from a list of words. */
function readScopes(draft: Draft): Scope[] | undefined {
  if (draft['scopes_from']) return scopes.filter((scope) => draft[`scope.${scope}`] !== undefined)
  const named = wordsOf(draft['scopes'] ?? '')
  if (named.length === 0) return undefined
  return named.map(
    (word) =>
      scopes.find((scope) => scope === word) ?? no('scopes', `Choose from: ${scopes.join(', ')}.`),
  )
}

const wordsOf = (text: string): string[] => text.split(/[\s,]+/).filter((word) => word !== '')

function readTags(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const pairs = lines.map((line): [string, string] => {
    const at = line.indexOf('=')
    if (at < 1) no('tags', 'Enter one tag a line, such as team=search.')
    return [line.slice(0, at).trim(), line.slice(at + 1).trim()]
  })
  if (new Set(pairs.map(([name]) => name)).size < pairs.length) {
    no('tags', 'Give each tag a different name.')
  }
  return Object.fromEntries(pairs)
}

function readLimits(draft: Draft): LimitsChange {
  const limits: [string, unknown][] = []
  for (const [column, { field, readField }] of everyLimit) {
    const text = draft[field.name]
    if (text !== undefined) limits.push([column, readField(text)])
  }
  return Object.fromEntries(limits)
}

function readBrake(draft: Draft): Pick<KeyChange, 'brakeMinute' | 'brakeHour' | 'brakeRunning'> {
  const { brake_per_minute: minute, brake_per_hour: hour, brake_running: running } = draft
  return {
    ...(minute === undefined ? {} : { brakeMinute: readBrakeMost(draft, 'brake_per_minute') }),
    ...(hour === undefined ? {} : { brakeHour: readBrakeMost(draft, 'brake_per_hour') }),
    ...(running === undefined ? {} : { brakeRunning: readRunning(running) }),
  }
}

/** An amount, or a part of the cap in percent, as the form proposes it: `10%`. */
function readBrakeMost(draft: Draft, field: string): Nusd | null {
  const { [field]: text = '', cap } = draft
  const [, percent] = /^\s*(100|[1-9]\d?)\s*%\s*$/.exec(text) ?? []
  if (percent === undefined) return text.trim() === '' ? null : readUsd(field, text)
  if (cap === undefined) no(field, 'Enter an amount in USD.')
  return max((readUsd('cap', cap) * BigInt(percent)) / 100n, 1n)
}

function readRunning(text: string): 'finish' | 'stop' {
  if (text === 'stop') return 'stop'
  if (text === '' || text === 'finish') return 'finish'
  no('brake_running', 'Choose finish or stop.')
}

function no(param: string, message: string): never {
  refuseField(param, message)
}
