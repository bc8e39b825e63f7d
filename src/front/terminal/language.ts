/** The terminal's commands, and how a line is read as one. */
import { editDistance, nearest } from '../../kernel/nearest.ts'
import { refuse } from '../../kernel/refusal.ts'

/** The syntax of a command. */
export type Usage<Name extends string = string> = {
  name: Name
  /** The argument: one word, any text, or nothing. */
  takes: 'nothing' | 'word' | 'text'
  /** The argument's name in help: `<receipt id>`. */
  what?: string
  about: string
}

export const commands = [
  { name: 'help', takes: 'nothing', about: 'list the commands' },
  { name: 'status', takes: 'nothing', about: 'the state of this server' },
  { name: 'models', takes: 'nothing', about: 'the models and their prices' },
  { name: 'price', takes: 'word', what: 'model', about: 'the price of one model' },
  { name: 'ask', takes: 'text', what: 'text', about: 'ask a model and get a signed receipt' },
  { name: 'verify', takes: 'word', what: 'receipt id', about: 'check a receipt' },
  { name: 'receipt', takes: 'word', what: 'receipt id', about: 'the content of a receipt' },
  { name: 'proof', takes: 'word', what: 'receipt id', about: "a receipt's place in the log" },
  { name: 'passport', takes: 'word', what: 'handle', about: 'a public profile, by its receipts' },
  { name: 'anchors', takes: 'nothing', about: "the log's anchors on the chain" },
  { name: 'recent', takes: 'nothing', about: 'the newest public receipts' },
  { name: 'signer', takes: 'nothing', about: 'the key that signs receipts' },
] as const satisfies readonly Usage[]

export type CommandName = (typeof commands)[number]['name']

export const usageOf = ({ name, what }: Usage): string =>
  what === undefined ? name : `${name} <${what}>`

/** A parsed line. */
export type ParsedCommand<Name extends string> = { name: Name; argument: string }

/** Longest word that is compared with command names, in characters. */
const maxNameChars = 64

/**
 * Reads a line: a command name and its argument. The language has no quotes, variables or pipes,
 * and one command per line. Where `ask` is known, a line that is not a command is asked as a
 * question, unless it only misspells a command.
 * @throws Refusal `invalid_request` naming the nearest command
 */
export function readLine<Name extends string>(
  line: string,
  known: readonly Usage<Name>[],
): ParsedCommand<Name> {
  const [, word = '', rest = ''] = /^\s*(\S*)\s*([\s\S]*)$/.exec(line) ?? []
  const argument = rest.trimEnd()
  const usage = known.find(({ name }) => name === word.toLowerCase())
  if (usage && takes(usage, argument)) return { name: usage.name, argument }
  const ask = known.find(({ name }) => name === 'ask')
  const isQuestion = usage ? argument !== '' : word !== '' && !isSlip(word, argument, known)
  if (ask && isQuestion) return { name: ask.name, argument: line.trim() }
  if (!usage) return refuseUnknown(word, known)
  const message = `Usage: ${usageOf(usage)}`
  refuse('invalid_request', { param: 'command', message, metadata: { command: usage.name } })
}

function takes(usage: Usage, argument: string): boolean {
  if (usage.takes === 'nothing') return argument === ''
  return usage.takes === 'word' ? /^\S{1,256}$/.test(argument) : argument !== ''
}

/** Whether a line would be a command but for one wrong or two swapped letters of its name. */
const isSlip = (word: string, argument: string, known: readonly Usage[]): boolean =>
  word.length <= maxNameChars &&
  known.some(
    (usage) =>
      (argument === '' || takes(usage, argument)) && isMisspelt(word.toLowerCase(), usage.name),
  )

const isMisspelt = (word: string, name: string): boolean =>
  editDistance(word, name) <= 1 || lettersOf(word) === lettersOf(name)

const lettersOf = (word: string): string => [...word].sort().join('')

function refuseUnknown(word: string, known: readonly Usage[]): never {
  const names = known.map(({ name }) => name)
  const guess = word.length > maxNameChars ? undefined : nearest(word.toLowerCase(), names)
  const first = word === '' ? 'Enter a command.' : 'Unknown command.'
  const second = guess === undefined ? '' : ` Did you mean "${guess}"?`
  const asks = names.includes('ask') ? '; "ask <text>" asks a model' : ''
  refuse('invalid_request', {
    param: 'command',
    message: `${first}${second} "help" lists all commands${asks}.`,
    metadata: { nearest: guess ?? null },
  })
}
