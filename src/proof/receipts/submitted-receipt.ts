/** Reads what a visitor gives to verify: a file, an id or a link. */
import { isId } from '../../kernel/ids.ts'
import { isModestJson } from '../../kernel/json-size.ts'
import { type JsonText, readJsonText } from '../../verify/json-text.ts'
import { isObject, isReceiptFile, type Problem, type ReceiptFile } from '../../verify/receipt.ts'

export type Submission =
  | { kind: 'file'; file: ReceiptFile; problems: readonly Problem[] }
  | { kind: 'receipt'; id: string }
  | { kind: 'wrong'; message: string }

/** Faults inside a file are left to the checks. */
export function readSubmission(text: string, baseUrl: string): Submission {
  const given = text.trim()
  if (given === '') return wrong('Choose a receipt file, or paste one, its id or its link.')
  if (isId('rcpt', given)) return { kind: 'receipt', id: given }
  if (/^https?:\/\//i.test(given)) return readLink(given, baseUrl)
  const read = parse(given)
  if (isReceiptFile(read?.value)) {
    return { kind: 'file', file: read?.value as ReceiptFile, problems: read?.repeated ?? [] }
  }
  const value = read?.value
  if (isObject(value) && value['type'] === 'counterfoil.liabilities') return wrong(liabilitiesWords)
  return wrong(
    read === undefined
      ? 'This is neither a receipt file nor the id or the link of a receipt.'
      : 'This is not a receipt file: "type" must be "counterfoil.receipt", with a "receipt" in it.',
  )
}

const liabilitiesWords =
  'This is a proof of liabilities: the offline page below checks it, and so does the command ' +
  'counterfoil verify.'

/** Accepts links to this service only; no other server is asked. */
function readLink(link: string, baseUrl: string): Submission {
  const url = URL.parse(link)
  const id = /\/(rcpt_\w{26})(?:\/|$)/.exec(url?.pathname ?? '')?.[1]
  if (url?.origin !== new URL(baseUrl).origin) {
    return wrong('This link leads to another service. Download the file there and drop it here.')
  }
  if (!id || !isId('rcpt', id)) return wrong('This link does not lead to a receipt.')
  return { kind: 'receipt', id }
}

const parse = (text: string): JsonText | undefined =>
  isModestJson(text) ? readJsonText(text) : undefined

const wrong = (message: string): Submission => ({ kind: 'wrong', message })
