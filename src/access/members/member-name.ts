/** The rule for the names of members: one that is seen whole, and of one member alone. */
import { roles } from '../../kernel/acting.ts'
import { refuseField } from '../../kernel/refusal.ts'

export const nameMax = 40

/** Not drawn, or turning what stands beside it; a line of its own; an empty cell of Braille. */
const unseen = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u
const seen = /[\p{L}\p{N}\p{Emoji_Presentation}]/u
const stacked = /\p{M}{3}/u

/** Begins as an address does, is cut as one, or is hexadecimal as long as half of one. */
const addressLike = /0x[0-9a-f]|[0-9a-f]{3}\s*(?:…|⋯|\.\.|··)|^[0-9a-f\s]{20,}$/u

/** Words that pages themselves put beside a member, and the rest of such a claim. */
const claims = [
  ...roles,
  ...'you me member account operator admin administrator support system the of this an a'.split(
    ' ',
  ),
]

/** Cyrillic and Greek letters in the order of the Latin ones that they look like. */
const foreign = 'асԁеһіјкӏморԛѕтухѵԝοαρνικτεγυηω'
const latin = 'acdehijklmopqstyxvwoapvikteyunw'

const alike = new Map([...foreign].map((letter, i) => [letter, latin[i] ?? letter]))

/** Small letters without accents, each look-alike as the Latin one. */
const plainOf = (name: string): string =>
  [
    ...name
      .normalize('NFKD')
      .replace(/[\u0300-\u036f]/g, '')
      .toLowerCase(),
  ]
    .map((letter) => alike.get(letter) ?? letter)
    .join('')

/** The look of a name: the same for names that a reader takes for one another. */
export const lookOf = (name: string): string =>
  plainOf(name)
    .replace(/[\p{P}\p{Z}]/gu, '')
    .replaceAll('0', 'o')
    .replace(/[1i|]/g, 'l')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w')

const claimed: ReadonlySet<string> = new Set(claims.map(lookOf))

/**
 * The name as it is stored; null for an empty text, which takes a name away.
 * @throws Refusal `invalid_request` with `param`
 */
export function readName(typed: string): string | null {
  const name = typed
    .trim()
    .normalize('NFC')
    .replace(/\p{Zs}+/gu, ' ')
    .trim()
  if (name === '') return null
  if ([...name].length > nameMax || unseen.test(name) || stacked.test(name) || !seen.test(name)) {
    const form = 'on one line, all of them visible, with a letter or a digit'
    refuseField('name', `A name has at most ${nameMax} characters, ${form}.`)
  }
  if (addressLike.test(plainOf(name))) refuseField('name', 'A name may not look like an address.')
  if (name.split(' ').every((word) => claimed.has(lookOf(word)) || lookOf(word) === '')) {
    refuseField('name', 'A name may not be a role, nor a word that the page says of a member.')
  }
  return name
}

/** @throws Refusal `invalid_request` with `param` if another member has the name already */
export function assertOwnName(name: string, others: readonly { name: string | null }[]): void {
  const look = lookOf(name)
  if (others.some((other) => other.name !== null && lookOf(other.name) === look)) {
    refuseField('name', 'Another member of this account has this name, or one that looks like it.')
  }
}
