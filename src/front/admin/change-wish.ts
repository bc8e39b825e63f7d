/** Reads how an operator wants a model or an upstream to be. */
import type { ChangeWish } from '../../app/changes/changes-port.ts'
import { refuseField } from '../../kernel/refusal.ts'

type Sent = Readonly<Record<string, string | undefined>>

/** More names than a person types. */
const aliasesMost = 50
const weightMost = 1_000_000

/** @throws Refusal 'invalid_request' that names the field */
export function readChangeWish(kind: ChangeWish['kind'], sent: Sent, steps: number): ChangeWish {
  const id = sent['id'] ?? ''
  const { status } = sent
  if (kind === 'upstream') {
    if (status !== 'live' && status !== 'disabled') return refuseField('status', 'Choose a state.')
    return { kind, id, status, key: readKey(sent['key'] || undefined) }
  }
  if (status !== 'live' && status !== 'disabled' && status !== 'deprecated') {
    return refuseField('status', 'Choose a state.')
  }
  const weights = Array.from({ length: steps }, (_, at) => readWeight(`weight_${at}`, sent))
  return { kind, id, status, aliases: readAliases(sent['aliases'] ?? ''), weights }
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
