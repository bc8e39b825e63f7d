/** Error bodies as messages for people: what happened, and the charge. */
import { maxNusd, type Nusd, toUsd } from '../../kernel/money.ts'

/** The error body of a refused or interrupted run. */
export type Fault = { type: string; message: string; metadata?: Record<string, unknown> }

export type FaultWords = { what: string; charged: string; receiptId: string | undefined }

/** The party that interrupted a run, by error type. */
const brokeOff: Record<string, string> = {
  conflict: 'You stopped it',
  upstream_error: 'The model server stopped',
  upstream_timeout: 'The model server timed out and was stopped',
  key_revoked: 'The key was revoked, which stopped it',
  session_required: 'You signed out, which stopped it',
}

/** Describes a fault: with the charge if the run began, with the missing amount if money lacks. */
export function wordsOf({ type, message, metadata = {} }: Fault): FaultWords {
  const cost = nusdOf(metadata['cost_nusd'])
  const receiptId = textOf(metadata['receipt_id'])
  if (cost !== undefined) {
    const tokens = Number(metadata['output_tokens'] ?? 0)
    const verb = brokeOff[type]
    return {
      what: verb === undefined ? message : `${verb} ${afterTokens(tokens)}.`,
      charged: chargedFor(cost, tokens),
      receiptId,
    }
  }
  if (type === 'insufficient_balance' || type === 'cap_exceeded') return moneyWords(type, metadata)
  return { what: message, charged: '', receiptId }
}

const afterTokens = (tokens: number): string =>
  tokens === 0 ? 'before any output' : `after ${counted(tokens, 'token')}`

const chargedFor = (cost: Nusd, tokens: number): string =>
  cost === 0n
    ? 'Nothing was charged, and the hold was released.'
    : `You were charged $${toUsd(cost)} for ${tokens === 0 ? 'its input' : 'them'}, ` +
      'and the rest of the hold was released.'

function moneyWords(type: string, metadata: Record<string, unknown>): FaultWords {
  const required = `$${toUsd(nusdOf(metadata['required_nusd']) ?? 0n)}`
  const left = `$${toUsd(nusdOf(metadata['available_nusd']) ?? 0n)}`
  const isBalance = type === 'insufficient_balance'
  const resetsAt = textOf(metadata['resets_at'])
  const until = resetsAt ? ` until ${resetsAt.slice(0, 16).replace('T', ' ')} UTC` : ''
  const most = Number(metadata['max_affordable_output_tokens'] ?? 0)
  const shorter = most > 0 ? `Ask for at most ${counted(most, 'token')}` : 'Ask for less'
  if (metadata['limited_by'] === 'max_cost_per_run') {
    return {
      what: `This could cost ${required}, but the key limits one run to ${left}.`,
      charged: `Nothing was charged. ${shorter}, or raise the key's limit per run.`,
      receiptId: undefined,
    }
  }
  return {
    what: isBalance
      ? `This could cost ${required}, but only ${left} of the balance is available.`
      : `This could cost ${required}, but the console may only spend ${left} more${until}.`,
    charged: `Nothing was charged. ${shorter}, or ${isBalance ? 'top up' : 'raise the cap'}.`,
    receiptId: undefined,
  }
}

/** `1 token`, `1,388 tokens`. */
export const counted = (count: number, noun: string): string =>
  `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`

/** Why a cap is refused, in dollars. */
export function capFaultOf({ message, metadata = {} }: Omit<Fault, 'type'>): string {
  const smallest = nusdOf(metadata['smallest_nusd'])
  if (smallest === undefined) return message
  return `The cap must be at least $${toUsd(smallest)}, which is already spent or held.`
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined

function nusdOf(value: unknown): Nusd | undefined {
  if (typeof value !== 'number' || !Number.isInteger(value)) return undefined
  const amount = BigInt(value)
  return amount >= 0n && amount <= maxNusd ? amount : undefined
}
