/** The prompts of a demonstration, and the answers of its models. */
import type { Dice } from './dice.ts'

export const questions = [
  'Where is my order 20-4417? It was promised for Tuesday.',
  'Summarise the incidents of this week for the Monday meeting.',
  'Review the change of the payment module and name the risky lines.',
  'Which invoices are overdue by more than 30 days?',
  'Translate the release notes into German and French.',
  'Draft a reply to the customer who was charged twice.',
  'Group these 40 support tickets by cause.',
  'Write a SQL query for the ten slowest jobs of yesterday.',
  'What changed between the two versions of this contract?',
  'Explain the spike in latency at 03:10 UTC from these logs.',
] as const

/** Lines of a document that questions are about: the longer it is, the more input a run has. */
const document = [
  'Ticket 4417: the parcel left Rotterdam on the 12th and was scanned in Basel on the 14th.',
  'Incident 88: the queue of the importer grew to 12,400 jobs; a retry loop was the cause.',
  'Invoice 2026-0311, due 1 October, 1,240.00 EUR, reminder sent twice.',
  'payment.ts:42 rounds half up; the ledger rounds once per posting and rounds up.',
  'Clause 7.2: either party may end this agreement with thirty days of notice in writing.',
  '03:10:04 WARN pool exhausted, 64 of 64 connections in use, oldest 31 s',
] as const

const sentences = [
  'Three items need attention; the details follow.',
  'The importer retried without a limit, so every failed job came back at once.',
  'The parcel is in Basel and will be delivered tomorrow before noon.',
  'Line 42 rounds half up, but the ledger rounds up: totals differ by one cent.',
  'Two invoices are overdue, 1,240.00 EUR and 310.50 EUR.',
  'I suggest a limit of five retries with a pause that doubles.',
  'The second version drops the penalty and shortens the notice to thirty days.',
  'Most tickets have one of four causes: delivery, billing, sign-in, and a slow export.',
  'Nothing else in the logs explains the spike.',
] as const

const table = `

| cause | tickets | share |
|---|---:|---:|
| delivery | 17 | 43 % |
| billing | 11 | 27 % |
| sign-in | 8 | 20 % |
`

const code = `

\`\`\`sql
SELECT name, ended_at - started_at AS took
FROM jobs WHERE started_at >= date('now', '-1 day')
ORDER BY took DESC LIMIT 10;
\`\`\`
`

/** A question with `lines` lines of a document below it. */
export function promptOf(question: string, lines: number): string {
  const body = Array.from({ length: lines }, (_, at) => document[at % document.length])
  return [question, ...body].join('\n')
}

/** An answer of about `count` words, in the pieces of a stream. */
export function answerOf(count: number, from: number): string[] {
  const words: string[] = []
  for (let at = from; words.length < count; at++) {
    words.push(...(sentences[at % sentences.length] ?? '').split(/(?= )/), ' ')
  }
  const more = from % 5 === 0 ? table : from % 7 === 0 ? code : ''
  return [...words, ...more.split(/(?<=\n)/)]
}

/** Shares of requests that fail before the first word, and in the middle of a stream. */
export const failsThisOften = 0.035
export const breaksThisOften = 0.015

/** The words of one answer: a stream is shorter, because people wait for it. */
export const answerFor = (dice: Dice, isStream: boolean): string[] =>
  answerOf(dice.between(30, isStream ? 170 : 320), dice.between(0, 50))

export type AnswerUnits = {
  input: number
  output: number
  cache_read: number
  cache_write: number
  reasoning: number
}

/**
 * Units of an answer of `words` pieces to a prompt of `bytes`; about half of a longer input was
 * cached before.
 */
export function unitsFor(
  dice: Dice,
  bytes: number,
  { words, isStream }: { words: number; isStream: boolean },
): AnswerUnits {
  const input = Math.floor(bytes / 4.3)
  const cached = input > 400 && dice.chance(0.5) ? Math.floor(input * 0.6) : 0
  const written = input > 400 && cached === 0 && dice.chance(0.3) ? Math.floor(input * 0.4) : 0
  return {
    input: input - cached - written,
    output: Math.round(words * 1.3 * (isStream ? 1 : 2.5)),
    cache_read: cached,
    cache_write: written,
    reasoning: dice.chance(0.25) ? dice.between(60, 400) : 0,
  }
}
