/** Reads how an operator wants a model or an upstream to be. */
import type { ChangeWish, WrittenModel, WrittenPrice } from '../../app/changes/changes-port.ts'
import { parseTypedPrice, parseUsd } from '../../kernel/money.ts'
import { refuseField } from '../../kernel/refusal.ts'
import { isPerToken } from '../../models/rate-fields.ts'

type Sent = Readonly<Record<string, string | undefined>>

/** More names than a person types. */
const aliasesMost = 50
const weightMost = 1_000_000

/** @throws Refusal 'invalid_request' that names the field */
export function readChangeWish(sent: Sent, model: WrittenModel | undefined): ChangeWish {
  const id = sent['id'] ?? ''
  const { status } = sent
  if (!model) {
    if (status !== 'live' && status !== 'disabled') return refuseField('status', 'Choose a state.')
    return { kind: 'upstream', id, status, key: readKey(sent['key'] || undefined) }
  }
  if (status !== 'live' && status !== 'disabled' && status !== 'deprecated') {
    return refuseField('status', 'Choose a state.')
  }
  return {
    kind: 'model',
    id,
    status,
    aliases: readAliases(sent['aliases'] ?? ''),
    weights: model.steps.map((_, at) => readWeight(`weight_${at}`, sent)),
    prices: Object.fromEntries(model.prices.flatMap((price) => readPrice(price, sent))),
    mayLose: sent['may_lose'] === 'true',
    mayGuess: sent['cost_unknown'] === 'true',
  }
}

/** A price that the form did not have stays as it is. */
function readPrice({ field, isNeeded }: WrittenPrice, sent: Sent): [string, string | null][] {
  const text = sent[field]
  if (text === undefined) return []
  if (text === '') {
    return isNeeded ? refuseField(field, 'This price is needed; 0 is free.') : [[field, null]]
  }
  const value = isPerToken(field) ? parseTypedPrice(text) : parseUsd(text.replace(/^\$/, ''))
  if (value !== undefined) return [[field, String(value)]]
  const unit = isPerToken(field) ? 'dollars a million tokens, such as 0.15' : 'dollars'
  return refuseField(field, `Enter ${unit}.`)
}

function readAliases(text: string): string[] {
  const names = [...new Set(text.split(/[\s,]+/).filter((name) => name !== ''))]
  const isFine = names.every((name) => /^[\x21-\x7e]{1,200}$/.test(name) && !/["\\]/.test(name))
  if (isFine && names.length <= aliasesMost) return names
  return refuseField('aliases', 'Enter up to 50 names without spaces and quotes, with commas.')
}

function readWeight(name: string, sent: Sent): number | null {
  const text = sent[name] ?? ''
  if (text === '') return null
  if (/^[1-9]\d{0,6}$/.test(text) && Number(text) <= weightMost) return Number(text)
  return refuseField(name, 'Enter a whole number from 1 to 1,000,000, or nothing.')
}

function readKey(key: string | undefined): string | undefined {
  if (key === undefined || /^[\x21-\x7e]{1,4096}$/.test(key)) return key
  return refuseField('key', 'A key is one line without spaces.')
}
