import { nearest } from '../../kernel/nearest.ts'
import { refuse } from '../../kernel/refusal.ts'

/** A command as somebody may write it. What it does stands elsewhere: here nothing is run. */
export type Usage<Name extends string = string> = {
  name: Name
  /** What follows the name: one word, any text, or nothing. */
  takes: 'nothing' | 'word' | 'text'
  /** The word in angle brackets: `<receipt id>`. */
  what?: string
  about: string
}

export const commands = [
  { name: 'help', takes: 'nothing', about: 'what can be asked here' },
  { name: 'status', takes: 'nothing', about: 'how this server is' },
  { name: 'models', takes: 'nothing', about: 'the models and what they cost' },
  { name: 'price', takes: 'word', what: 'model', about: 'the price of one model' },
  { name: 'ask', takes: 'text', what: 'text', about: 'ask a model, and get a signed receipt' },
  { name: 'verify', takes: 'word', what: 'receipt id', about: 'check a receipt' },
  { name: 'receipt', takes: 'word', what: 'receipt id', about: 'what a receipt says' },
  { name: 'proof', takes: 'word', what: 'receipt id', about: 'its place in the log' },
  { name: 'passport', takes: 'word', what: 'handle', about: 'who somebody is, by the log' },
  { name: 'anchors', takes: 'nothing', about: 'what of the log is on the chain' },
  { name: 'recent', takes: 'nothing', about: 'the newest receipts, as everybody sees them' },
  { name: 'signer', takes: 'nothing', about: 'whose signature receipts carry' },
] as const satisfies readonly Usage[]

export type CommandName = (typeof commands)[number]['name']

export const usageOf = ({ name, what }: Usage): string =>
  what === undefined ? name : `${name} <${what}>`

/** A line as it was understood. */
export type Read<Name extends string> = { name: Name; argument: string }

/** Characters of a word that is compared with the names of commands. */
const maxNameChars = 64

/**
 * Reads a line of the language: a name, and what follows it after a space. There are no quotes,
 * variables, pipes or several commands in a line: all of it is one command and its argument.
 * @throws Refusal `invalid_request` naming the nearest command
 */
export function readLine<Name extends string>(
  line: string,
  known: readonly Usage<Name>[],
): Read<Name> {
  const [, word = '', rest = ''] = /^\s*(\S*)\s*([\s\S]*)$/.exec(line) ?? []
  const usage = known.find(({ name }) => name === word.toLowerCase())
  if (!usage) return refuseUnknown(word, known)
  const argument = rest.trimEnd()
  const isRight =
    usage.takes === 'nothing'
      ? argument === ''
      : usage.takes === 'word'
        ? /^\S{1,256}$/.test(argument)
        : argument !== ''
  if (isRight) return { name: usage.name, argument }
  const message = `Write it as: ${usageOf(usage)}`
  refuse('invalid_request', { param: 'command', message, metadata: { command: usage.name } })
}

function refuseUnknown(word: string, known: readonly Usage[]): never {
  const names = known.map(({ name }) => name)
  const guess = word.length > maxNameChars ? undefined : nearest(word.toLowerCase(), names)
  const first = word === '' ? 'Write a command.' : 'There is no such command.'
  const second = guess === undefined ? '' : ` Did you mean "${guess}"?`
  const asks = names.includes('ask') ? '; "ask <text>" asks a model' : ''
  refuse('invalid_request', {
    param: 'command',
    message: `${first}${second} "help" lists all there are${asks}.`,
    metadata: { nearest: guess ?? null },
  })
}
