import { any, bug, faster, nothing, type Row } from './explained-verify.ts'

const alwaysOne = 'There is always a word: the other value is for the type.'

/** Of keys, and of sign-ins. */
export const ofAccess: Record<string, Row[]> = {
  'src/access/accounts/needs-session.ts': [
    ['if (token === undefined || !isToken(token))', /\|\| to &&/, faster],
    ['if (now - found.session.lastSeenAt', /true|- to \+/, 'The store asks the same once more.'],
    ['const path = url.slice(', /one more/, 'A host has at least one character to skip.'],
  ],
  'src/access/accounts/contract-wallet.ts': [['throw error', any, bug]],
  'src/access/accounts/store/nonce.ts': [
    ['const dropBatch', any, 'How many go at once is not promised.'],
    ['export function nonceStore', any, 'How many are kept is not promised.'],
    ['const slack = ', /one more/, 'How much room is made at once is not promised.'],
    ['const over = Number(held', /one more/, 'There is always a count: 0 is for the type.'],
    ['if (over > 0) yield* dropOldest', /> to >=/, nothing],
  ],
  'src/access/accounts/store/session.ts': [
    ['const dropBatch', any, 'How many go at once is not promised.'],
    ['if (replaced !== undefined)', /true/, nothing],
    ['return toPage(', /one more/, 'One row more is read, for no use.'],
  ],
  'src/access/accounts/sign-in.ts': [
    ['if (!eoaSignature.test(signed.signature))', /false/, 'What is verified then fails as well.'],
  ],
  'src/access/accounts/siwe.ts': [
    ['const lines = raw.split(', /one more/, 'Lines are cut off where there are too many already.'],
  ],
  'src/access/accounts/api/sign-in.ts': [
    ['const wanted = typeof value', any, 'What a form holds is always an object.'],
  ],
  'src/access/keys/needs-key.ts': [
    ['if (mayAtOnce(caller, need, now)) return', /false/, faster],

    ['throw error', any, bug],
  ],
  'src/access/keys/command-key.ts': [
    ["if (!key) throw new Error('a chain without a key')", /false/, bug],
  ],
  'src/access/keys/change.ts': [
    ['if (next.capLimit < key.capLimit)', any, 'A cap that is not lowered always covers.'],
  ],
  'src/access/keys/issue.ts': [
    ['if (parent && depthOf(parent) >= maxDepth)', any, 'No plan nests deeper: it refuses next.'],
    ["refuseField('parent_id', `", any, 'No plan nests deeper.'],
    ["if (!account) throw new Error('a key for an account", /false/, bug],
  ],
  'src/access/keys/key.ts': [
    ["if (need === 'also-paused') return isPlain", /false/, faster],
    ['return isPlain && !isPaused', /\|\| to &&/, faster],
    ['const bitOf', /one more/, 'Any bit does, if each need has its own.'],
    ['export const maxActiveKeys', any, 'No plan has room for more.'],
    ['export const maxDepth', any, 'No plan nests deeper.'],
    ['export const mayAtOnce', /one more/, 'Without both of them a closer look is taken.'],
  ],
  'src/access/keys/form-token.ts': [
    ['const at = ', /one more/, 'The form of the token was checked: 13 digits, then a dot.'],
    ['const random = ', /one more/, 'Any bytes of the digest do, if they are always the same.'],
  ],
  'src/access/keys/rate.ts': [
    ['if (chain.length > 1)', /true|> to >=/, 'Speed only: of one key it is asked twice.'],
    ["if (!nearest) throw new Error('a caller without", /false/, bug],
  ],
  'src/access/keys/caller-cache.ts': [
    ['if (digest.length !== bytes.length)', /false/, bug],
    ['const known = entries.get(words[0] ?? 0)', /one more/, alwaysOne],
    ['const [first = 0, b, c, d] = words', /one more/, alwaysOne],
  ],
  'src/access/keys/self.ts': [
    ['return made instanceof Promise', any, 'Speed only: what throws there is left to its route.'],
    [
      'from <= now && now < until',
      /<= to </,
      'Speed only: it is read as if it were the first time.',
    ],
    ["if (block?.type !== 'key_expired')", /true|[+] to -/, faster],
    ['if (overlapUntil !== null)', /true/, 'No end is none after now, and taken out next.'],
    ['return { from: now, until: Math.min(', />/, faster],
    ["if (!account) throw new Error('a key without", /false/, bug],
  ],
}
