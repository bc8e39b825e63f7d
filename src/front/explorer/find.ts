/** Finds what is public for a search text. */
import { toAccountId } from '../../access/accounts/account.ts'
import type { Deps } from '../../app/deps-port.ts'
import { fromHex } from '../../kernel/hex.ts'
import { isId } from '../../kernel/ids.ts'
import { isHandle } from '../../proof/passports/handle.ts'
import type { AnchorRow, CheckpointRow } from '../../storage/db/schema/schema.ts'
import { isAddress, toChecksumAddress } from '../../verify/address.ts'
import type { NamedPassport, Range } from './store/prefixes.ts'

/** A public thing that a search text names. */
export type SearchResult =
  | { is: 'receipt'; id: string }
  | { is: 'anchor'; row: AnchorRow }
  | { is: 'checkpoint'; row: CheckpointRow }
  | { is: 'passport'; handle: string; displayName: string }
  | { is: 'address'; address: string; role: Role }

/** The part that an address plays in this service. */
export type Role = 'signer' | 'registry' | 'sender' | 'treasury' | 'token'

/** Longest search text, in characters: no id, hash, handle or address is longer. */
const longest = 100

/** The most results of a beginning. */
export const foundMax = 10

/**
 * Everything a text names: a receipt, run or anchor id, a log index, a digest, a transaction, a
 * root, a log size, a handle, an address; and what begins so. Private receipts look the same as
 * missing ones.
 */
export async function findPublic(deps: Deps, asked: string): Promise<SearchResult[]> {
  const text = asked.trim()
  if (text.length > longest) return []
  const [prefix = ''] = text.split('_')
  if (prefix === 'rcpt' || prefix === 'run') {
    const id = text.replace(/^run_/, 'rcpt_')
    return isId('rcpt', id) ? findReceipt(deps, id) : findReceiptsBy(deps, id)
  }
  if (prefix === 'anc') return findAnchors(deps, text)
  if (/^#?\d{1,15}$/.test(text)) return findPlace(deps, Number(text.replace('#', '')))
  if (/^(0x)?[0-9a-fA-F]{64}$/.test(text)) {
    return findHash(deps, `0x${text.toLowerCase().replace(/^0x/, '')}`)
  }
  if (isAddress(text)) return findAddress(deps, toAccountId(text))
  const handles = await findHandles(deps, text.replace(/^@/, '').toLowerCase())
  const digits = /^(0x[0-9a-f]{4,63}|[0-9a-f]{6,63})$/.exec(text.toLowerCase())?.[0]
  if (digits === undefined) return handles
  return [...handles, ...(await findHashesBy(deps, digits.replace(/^0x/, '')))].slice(0, foundMax)
}

/** The least and the greatest id that begin so; undefined if none does or nearly all do. */
function idsBy(kind: 'rcpt' | 'anc', text: string): Range<string> | undefined {
  const start = `${kind}_`
  const length = start.length + idLength
  const isBeginning =
    text.startsWith(start) && /^[0-9a-hjkmnp-tv-z]{4,25}$/.test(text.slice(start.length))
  return isBeginning ? [text.padEnd(length, '0'), text.padEnd(length, 'z')] : undefined
}

/** Characters of an id behind its prefix. */
const idLength = 26

async function findReceiptsBy({ explorer }: Deps, text: string): Promise<SearchResult[]> {
  const ids = idsBy('rcpt', text)
  return ids ? (await explorer.receiptsIn(ids, foundMax)).flatMap(ofReceipt) : []
}

async function findAnchors({ explorer }: Deps, text: string): Promise<SearchResult[]> {
  if (isId('anc', text)) return ofAnchor(await explorer.anchor(text))
  const ids = idsBy('anc', text)
  return ids ? (await explorer.anchorsIn(ids, foundMax)).flatMap(ofAnchor) : []
}

/** Finds receipts by the first digits of their hash, anchors by those of transaction or root. */
async function findHashesBy({ explorer, logs }: Deps, digits: string): Promise<SearchResult[]> {
  const hashes = [`0x${digits.padEnd(64, '0')}`, `0x${digits.padEnd(64, 'f')}`] as const
  const bytes = [fromHex(hashes[0]), fromHex(hashes[1])] as const
  const receipts = await explorer.receiptsOfDigests(bytes, foundMax)
  const rows = [
    ...(await explorer.anchorsOfTxs(hashes, foundMax)),
    ...(await explorer.anchorsOfRoots(logs.current.origin, bytes, foundMax)),
  ]
  const anchors = new Map(rows.map((row) => [row.id, row]))
  return [...receipts.flatMap(ofReceipt), ...[...anchors.values()].flatMap(ofAnchor)]
}

async function findReceipt({ shares }: Deps, id: string): Promise<SearchResult[]> {
  const share = await shares.find(id)
  return share?.visibility === 'public' ? ofReceipt(id) : []
}

/** A number is both the index of a receipt in the current log and the size of a signed head. */
async function findPlace(deps: Deps, number: number): Promise<SearchResult[]> {
  const { origin, start } = deps.logs.current
  const row = await deps.checkpoints.find(origin, number)
  const found = ofReceipt(await deps.explorer.publicAt(start + number))
  return row ? [...found, { is: 'checkpoint', row }] : found
}

async function findHash({ explorer, logs }: Deps, hash: string): Promise<SearchResult[]> {
  const bytes = fromHex(hash)
  return [
    ...ofReceipt(await explorer.publicByDigest(bytes)),
    ...ofAnchor(await explorer.anchorByTx(hash)),
    ...ofAnchor(await explorer.anchorByRoot(logs.current.origin, bytes)),
  ]
}

async function findAddress(deps: Deps, address: string): Promise<SearchResult[]> {
  const { signers, settings, anchoring, logs, explorer } = deps
  const place = await anchoring.placeOf(logs.current.origin)
  const roles: [Role, string | null | undefined][] = [
    ...signers.all.map((row): [Role, string] => ['signer', row.address]),
    ['registry', place?.registry],
    ['sender', place?.owner],
    ['treasury', settings.treasury],
    ['token', settings.token],
  ]
  const held = roles.flatMap(([role, one]) => (one && toAccountId(one) === address ? [role] : []))
  const passports = await explorer.passportsOf(address)
  return [
    ...[...new Set(held)].map((role): SearchResult => {
      return { is: 'address', address: toChecksumAddress(address), role }
    }),
    ...passports.map((one): SearchResult => ({ is: 'passport', ...one })),
  ]
}

/** The passport with this handle, or those whose handle begins so. */
async function findHandles({ passports, explorer }: Deps, text: string): Promise<SearchResult[]> {
  const row = isHandle(text) ? await passports.find(text) : undefined
  if (row?.status === 'public') return [toFound(row)]
  const isBeginning = /^[a-z][a-z0-9-]{1,28}$/.test(text)
  return isBeginning ? (await explorer.passportsBy(text, foundMax)).map(toFound) : []
}

const toFound = ({ handle, displayName }: NamedPassport): SearchResult => {
  return { is: 'passport', handle, displayName }
}

const ofReceipt = (id: string | undefined): SearchResult[] => (id ? [{ is: 'receipt', id }] : [])

const ofAnchor = (row: AnchorRow | undefined): SearchResult[] =>
  row ? [{ is: 'anchor', row }] : []
