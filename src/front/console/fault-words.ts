import { maxNusd, type Nusd, toUsd } from '../../kernel/money.ts'

/** Why a run was refused or broke off, as an error body tells it. */
export type Fault = { type: string; message: string; metadata?: Record<string, unknown> }

/** The same for people: what happened, and what it cost. */
export type FaultWords = { what: string; charged: string; receiptId: string | undefined }

/** Who broke off a run that had begun. */
const brokeOff: Record<string, string> = {
  conflict: 'You stopped it',
  upstream_error: 'The model server stopped',
  upstream_timeout: 'The model server took too long: it was stopped',
  key_revoked: 'The key was revoked: it stopped',
  session_required: 'You signed out: it stopped',
}

/** Says a fault in words: of a run that began with what was charged, of money with what lacks. */
export function wordsOf({ type, message, metadata = {} }: Fault): FaultWords {
  const cost = nusdOf(metadata['cost_nusd'])
  const receiptId = textOf(metadata['receipt_id'])
  if (cost !== undefined) {
    const tokens = Number(metadata['output_tokens'] ?? 0)
    const verb = brokeOff[type]
    return {
      what: verb === undefined ? message : `${verb} ${afterTokens(tokens)}.`,
      charged: chargedFor(cost),
      receiptId,
    }
  }
  if (type === 'insufficient_balance' || type === 'cap_exceeded') return moneyWords(type, metadata)
  return { what: message, charged: '', receiptId }
}

const afterTokens = (tokens: number): string =>
  tokens === 0 ? 'before it said anything' : `after ${counted(tokens, 'token')}`

const chargedFor = (cost: Nusd): string =>
  cost === 0n
    ? 'Nothing was charged, and the whole hold is free again.'
    : `You were charged $${toUsd(cost)} for those, and the rest of the hold is free again.`

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
      what: `This could cost ${required}, and the key lets one run cost ${left} at most.`,
      charged: `Nothing was charged. ${shorter}, or raise what a run of the key may cost.`,
      receiptId: undefined,
    }
  }
  return {
    what: isBalance
      ? `This could cost ${required}, and the balance has ${left} free.`
      : `This could cost ${required}, and the console may spend ${left} more${until}.`,
    charged: `Nothing was charged. ${shorter}, or ${isBalance ? 'top up' : 'raise the cap'}.`,
    receiptId: undefined,
  }
}

/** `1 token`, `1,388 tokens`. */
export const counted = (count: number, noun: string): string =>
  `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`

/** Why a cap cannot be, in words without nano-dollars. */
export function capFaultOf({ message, metadata = {} }: Omit<Fault, 'type'>): string {
  const smallest = nusdOf(metadata['smallest_nusd'])
  if (smallest === undefined) return message
  return `$${toUsd(smallest)} of it is spent or held: that is the smallest cap there can be.`
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined

function nusdOf(value: unknown): Nusd | undefined {
  if (typeof value !== 'number' || !Number.isInteger(value)) return undefined
  const amount = BigInt(value)
  return amount >= 0n && amount <= maxNusd ? amount : undefined
}
