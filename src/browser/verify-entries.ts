/** Reads the fields of the offline verifier. */
import { systemClock } from '../kernel/clock.ts'
import { isAddress } from '../verify/address.ts'
import type { QuoteCheck } from '../verify/checks.ts'
import { type JsonText, readJsonText } from '../verify/json-text.ts'
import { isLiabilitiesFile, type LiabilitiesTrust } from '../verify/liabilities.ts'
import type { Policy } from '../verify/policy.ts'
import { isObject, isReceiptFile, type Problem } from '../verify/receipt.ts'
import {
  readEvidenceText,
  readPolicyText,
  readQuoteText,
  type Supplements,
  trustWith,
} from '../verify/supplements.ts'
import type { Trust, VerifyInput } from '../verify/verify.ts'
import { byId } from './dom.ts'

export type Entries = { input: VerifyInput; trust: Trust; chain: Policy['chain'] }

/** The values of the fields; undefined when one is marked as wrong. */
export function readEntries(): Entries | undefined {
  const file = read('text', (text) => {
    if (text === '') return 'Choose a receipt file or paste its text.'
    const read = readJsonText(text)
    if (!read || !isReceiptFile(read.value)) return 'This is not a receipt file.'
    return { value: read.value, problems: read.repeated }
  })
  const signers = read('signers', toAddresses)
  const proof = read('proof', (text) => optional(text, (value) => value))
  const between = read('anchors', (text) => optional(text, toEvidence))
  const quote = read('quote', (text): Entry<QuoteCheck | undefined> | string => {
    const found = readQuoteText(text)
    return typeof found === 'string' ? found : { value: found.quote, problems: found.problems }
  })
  const signed = read('evidence', toUpstreamEvidence)
  const policy = read('policy', toPolicy)
  if (!file || !signers || !proof || !between || !policy || !quote || !signed) return undefined
  const evidence = isObject(between.value) ? between.value : {}
  const problems = [file, proof, between, quote].flatMap((one) => one.problems ?? [])
  return {
    input: {
      file: file.value,
      proof: proof.value,
      quote: quote.value,
      ...signed.value,
      ...evidence,
      problems,
    },
    trust: trustOf(policy.value, signers.value),
    chain: policy.value.chain,
  }
}

/** A file of liabilities, with the knowledge of its reader. */
export type LiabilitiesEntries = JsonText & { trust: LiabilitiesTrust }

/** Whether the text is a file of liabilities; any other is read as a receipt. */
export const hasLiabilities = (): boolean => isLiabilitiesFile(liabilitiesText()?.value)

const liabilitiesText = () => readJsonText(byId('text', HTMLTextAreaElement).value.trim())

/** The fields that such a file is judged by; undefined when one is marked as wrong. */
export function readLiabilitiesEntries(): LiabilitiesEntries | undefined {
  const file = liabilitiesText()
  read('text', () => ({ value: undefined }))
  const signers = read('signers', toAddresses)
  const policy = read('policy', toPolicy)
  const account = read('account', (text) =>
    text === '' || isAddress(text) ? { value: text } : `“${short(text)}” is not an address.`,
  )
  const hours = read('age', (text) =>
    /^\d{0,5}$/.test(text) ? { value: Number(text) } : 'Whole hours, such as 48.',
  )
  if (!file || !signers || !policy || !account || !hours) return undefined
  const { signers: trusted, issuers } = trustOf(policy.value, signers.value)
  const since = hours.value === 0 ? undefined : systemClock.now() - hours.value * 3_600_000
  return {
    ...file,
    trust: { signers: trusted, issuers, account: account.value || undefined, since },
  }
}

function trustOf(policy: Policy, signers: readonly string[]): Trust {
  const issuer = byId('issuer', HTMLInputElement).value.trim()
  return { ...trustWith({}, policy, signers), ...(issuer !== '' && { issuers: [issuer] }) }
}

function toAddresses(text: string): Entry<string[]> | string {
  const addresses = text.split(/[\s,;]+/).filter((word) => word !== '')
  const wrong = addresses.find((word) => !isAddress(word))
  return wrong === undefined ? { value: addresses } : `“${short(wrong)}” is not an address.`
}

function toUpstreamEvidence(text: string): Entry<Pick<Supplements, 'attested'>> | string {
  const found = readEvidenceText(text)
  return typeof found === 'string' ? found : { value: found }
}

function toPolicy(text: string): Entry<Policy> | string {
  const found = readPolicyText(text)
  return typeof found === 'string' ? found : { value: found }
}

/** The value of a field, with the members that its text repeats. */
type Entry<T> = { value: T; problems?: readonly Problem[] }

/** Reads a field and marks it when it is wrong: text is what is wrong with it. */
function read<T>(id: string, to: (text: string) => Entry<T> | string): Entry<T> | undefined {
  const field = fieldOf(id)
  const message = byId(`${id}Error`, HTMLElement)
  const got = to(field.value.trim())
  const isWrong = typeof got === 'string'
  message.hidden = !isWrong
  message.textContent = isWrong ? got : ''
  if (!isWrong) {
    field.removeAttribute('aria-invalid')
    return got
  }
  field.setAttribute('aria-invalid', 'true')
  const folded = field.closest('details')
  if (folded) folded.open = true
  return undefined
}

function fieldOf(id: string): HTMLTextAreaElement | HTMLInputElement {
  const found = byId(id, HTMLElement)
  if (found instanceof HTMLTextAreaElement || found instanceof HTMLInputElement) return found
  throw new Error(`${id} is not a field`)
}

function optional(text: string, to: (value: unknown) => unknown): Entry<unknown> | string {
  if (text === '') return { value: undefined }
  const read = readJsonText(text)
  const value = to(read?.value)
  if (!isObject(value)) return 'This is not what the server answers there.'
  return { value, problems: read?.repeated ?? [] }
}

/** The checkpoint and the path of an answer of `GET /v1/anchors`. */
function toEvidence(answer: unknown): unknown {
  const log = isObject(answer) ? answer['log'] : undefined
  if (!isObject(answer) || !isObject(log) || !isObject(log['checkpoint'])) return undefined
  return { checkpoint: log['checkpoint'], consistency: answer['consistency'] }
}

const short = (text: string): string => (text.length > 50 ? `${text.slice(0, 50)}…` : text)
