/** Rules of handles: their form, look-alikes and reserved names. */
import { refuseField } from '../../kernel/refusal.ts'

/**
 * A handle names a passport for ever: 3 to 30 lower-case letters, digits and single hyphens, a
 * letter first and no hyphen last. It never changes and is never assigned again.
 */
export const isHandle = (text: string): boolean =>
  /^[a-z][a-z0-9-]{2,29}$/.test(text) && !text.includes('--') && !text.endsWith('-')

/**
 * What a handle looks like: only one handle per skeleton can exist. Digits
 * are the letters they resemble, and hyphens do not count. A wide letter becomes the narrow ones it
 * resembles (`m` and `rn` are `nn`, `d` is `cl`, `w` is `vv`), so that it does not matter where a
 * reader sees one letter end and the next begin. Digits that only resemble other digits (3 and 8,
 * 6 and 8) stay apart: people number their agents.
 */
export const skeletonOf = (handle: string): string =>
  [...handle.replaceAll('-', '').replace(/[01i2589mdw]/g, (char) => alike[char] ?? char)]
    // From the end, because each `r` before an `n` is one.
    .reduceRight((rest, char) => (char === 'r' && rest.startsWith('n') ? 'n' : char) + rest, '')

const alike: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'l',
  i: 'l',
  '2': 'z',
  '5': 's',
  '8': 'b',
  '9': 'g',
  m: 'nn',
  d: 'cl',
  w: 'vv',
}

/** @throws Refusal `invalid_request` for a malformed or reserved handle. */
export function assertHandle(handle: string): void {
  const param = 'handle'
  if (!isHandle(handle)) {
    refuseField(
      param,
      'A handle has 3 to 30 characters: a letter first, then letters a–z, digits and single ' +
        'hyphens, none at the end.',
    )
  }
  if (!reservedSkeletons.has(skeletonOf(handle))) return
  refuseField(param, `The handle ${handle} is reserved, or looks like one that is. Choose another.`)
}

/** Names of our paths, of operators, and of well-known brands. */
const reserved = `
about account accounts address admin administrator agent agents all anchor anchors anonymous any
api app apps assets audit auth authentication balance billing blog brand bug build catalogue cdn
chain chat checkpoint client cli config console contact contract counterfoil dashboard default
delete deposit deposits dev developer docs domain download edit email embed embeddings everyone
explorer export faq favicon feed file files fund funds gateway get grant grants guest handle
handles head health help home host htmx http https hub image images index info internal invoice
invoices key keys ledger legal licence license link links list llms local localhost log login
logout logs mail main manage master mcp me member members metrics model models moderator money
monitor new news nobody node nonce none null official oauth openapi openai operator operators
options owner page pages passport passports password patch pay payment payments people person plan
plans post price prices pricing privacy private profile profiles proof proofs public publish put
readyz livez receipt receipts recent register report reports retire retired robots root route
routes rpc rss run runs sales search security self server service services session sessions
setting settings share sign signer signin signout signup sitemap site staff staging standing start
stat statement statements static stats status stripe submit subscribe subscription subscriptions
super superuser support survey system sysop team terminal terms test theme token tokens top
treasury trust true false undefined unknown update upgrade upload url usage usd usdg user users
verified verify version void wallet wallets web webhook webhooks webmaster well-known widget www
you your anthropic claude chatgpt gemini google llama meta mistral microsoft nvidia ollama
openrouter pocketbase ethereum metamask coinbase binance uniswap vitalik
`

const reservedSkeletons: ReadonlySet<string> = new Set(
  reserved
    .split(/\s+/)
    .filter((word) => word !== '')
    .map(skeletonOf),
)
