/** Reads which provider an operator wants to add, and how its models are sold. */
import type { ProviderWish } from '../../app/providers/desk-port.ts'
import type { Decimal } from '../../kernel/decimal.ts'
import { parseTypedPrice } from '../../kernel/money.ts'
import { refuse, refuseField } from '../../kernel/refusal.ts'
import { readMarkup } from '../../models/price-files/price-entry.ts'
import { findProvider } from '../../models/providers/presets.ts'
import { isBaseUrl, type Provider, settingsIn } from '../../models/providers/provider.ts'

/** A wish as it was sent: an empty text is a field that was left empty. */
export type SentWish = { readonly provider: string } & Readonly<Record<string, string | undefined>>

/** @throws Refusal 'invalid_request' that names the field, 'not_found' */
export function readProviderWish(sent: SentWish): ProviderWish {
  const provider = findProvider(sent.provider) ?? refuse('not_found', 'No such provider.')
  return {
    provider,
    id: readId(sent['id'] || provider.id),
    key: readKey(provider, sent['key'] || undefined),
    settings: readSettings(provider, sent),
    at: readUrl(sent['at'] || undefined),
    globs: (sent['models'] ?? '').split(/[\s,]+/).filter((glob) => glob !== ''),
    markup: readPercent(sent['markup'] || undefined),
    input: readPrice('input', sent['input'] || undefined),
    output: readPrice('output', sent['output'] || undefined),
    contextTokens: readTokens(sent['context'] || undefined),
  }
}

/** It is part of the name of a file. */
function readId(id: string): string {
  if (/^[a-z0-9][a-z0-9._-]{0,63}$/.test(id)) return id
  return refuseField('id', 'Enter an id of lower-case letters, digits and hyphens.')
}

function readKey({ keyEnv = [], name }: Provider, key: string | undefined): string | undefined {
  if (keyEnv.length === 0) return undefined
  if (key === undefined) return refuseField('key', `Enter a key of ${name}.`)
  if (/^[\x21-\x7e]{1,4096}$/.test(key)) return key
  return refuseField('key', 'A key is one line without spaces.')
}

function readSettings(provider: Provider, sent: SentWish): Record<string, string> {
  if (sent['at']) return {}
  const settings = settingsIn(provider).map((name) => {
    const value = sent[name] ?? ''
    if (/^[\w.-]{1,128}$/.test(value)) return [name, value] as const
    return refuseField(name, `Enter the ${name} of ${provider.baseUrl}.`)
  })
  return Object.fromEntries(settings)
}

function readUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  return isBaseUrl(text)
    ? text
    : refuseField('at', 'Enter where its API begins, such as https://host/v1.')
}

function readPercent(text: string | undefined): Decimal | undefined {
  if (text === undefined) return undefined
  const factor = readMarkup(text.endsWith('%') ? text : `${text}%`)
  return factor ?? refuseField('markup', 'Enter a percentage, such as 10 or 12.5.')
}

/** Dollars a million tokens as USD a token. */
function readPrice(name: string, text: string | undefined): Decimal | undefined {
  if (text === undefined) return undefined
  const pusd = parseTypedPrice(text)
  if (pusd !== undefined) return { digits: pusd, scale: 12 }
  return refuseField(name, 'Enter dollars a million tokens, such as 0.15.')
}

function readTokens(text: string | undefined): number | undefined {
  if (text === undefined || /^[1-9]\d{0,8}$/.test(text)) return text ? Number(text) : undefined
  return refuseField('context', 'Enter a number of tokens.')
}
