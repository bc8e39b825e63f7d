/** Makes what a model server says of a refused request fit for its client. */
import { redact } from '../../kernel/redact.ts'

/** The longest message that is passed on, in characters. */
const mostLength = 500

/** Each takes linear time on a text of bounded length. */
const places = 'internal|local|lan|svc|intra|corp|com|net|org|io|ai|dev|cloud|app|co'

const removed: [RegExp, string][] = [
  [/\b[a-z][a-z\d+.-]{1,15}:\/\/[^\s"'<>)\]}]+/gi, '[address]'],
  [/\b\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?\b/g, '[address]'],
  [/\[?\b(?:[\da-f]{1,4}:){3,7}(?::?[\da-f]{1,4})?\b\]?(?::\d{1,5})?/gi, '[address]'],
  [/\blocalhost(?::\d{1,5})?\b/gi, '[address]'],
  // Names of a network, or with a port: a path of members such as messages.0.content has neither.
  [
    new RegExp(`\\b[a-z\\d](?:[\\w-]*\\.)+(?:${places})(?::\\d{1,5})?\\b(?![.[\\w-])`, 'gi'),
    '[address]',
  ],
  [/(?<![\w.-])(?=[\w.-]{1,253}:\d{2,5}\b)(?=[\d._-]*[a-z])[\w.-]{1,253}:\d{2,5}\b/gi, '[address]'],
  [/\b(?:org|proj|acct|user)[-_][\w-]{8,}/gi, '[account]'],
]

/**
 * The message in one line of printable text, without secrets, addresses and names of hosts.
 * `secrets` are texts of the configuration that must not be shown.
 */
export function cleanWords(message: string, secrets: readonly string[]): string {
  let text = message.slice(0, 4 * mostLength).toWellFormed()
  for (const secret of secrets) {
    if (secret.length >= 4) text = text.replaceAll(secret, '[redacted]')
  }
  text = redact(text)
  for (const [pattern, instead] of removed) text = text.replace(pattern, instead)
  const line = text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()
  return line.length > mostLength ? `${line.slice(0, mostLength - 1).toWellFormed()}…` : line
}
