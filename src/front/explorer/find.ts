/** Finds what is public for a search text. */
import { isAddress, toAccountId } from '../../access/accounts/account.ts'
import type { Deps } from '../../app/deps-port.ts'
import { fromHex } from '../../kernel/hex.ts'
import { isId } from '../../kernel/ids.ts'
import { isHandle } from '../../proof/passports/handle.ts'
import { receiptIdOf } from '../../proof/receipts/receipt.ts'
import type { AnchorRow, CheckpointRow } from '../../storage/db/schema.ts'
import { toChecksumAddress } from '../../verify/address.ts'

/** A public thing that a search text names. */
export type Found =
  | { is: 'receipt'; id: string }
  | { is: 'anchor'; row: AnchorRow }
  | { is: 'checkpoint'; row: CheckpointRow }
  | { is: 'passport'; handle: string; displayName: string }
  | { is: 'address'; address: string; role: Role }

/** The part that an address plays in this service. */
export type Role = 'signer' | 'registry' | 'sender' | 'treasury' | 'token'

/** Longest search text, in characters: no id, hash, handle or address is longer. */
const longest = 100

/**
 * Everything a text names: a receipt, run or anchor id, a log index, a digest, a transaction, a
 * root, a log size, a handle, an address. Private receipts look the same as missing ones.
 */
export async function findPublic(deps: Deps, asked: string): Promise<Found[]> {
  const text = asked.trim()
  if (text.length > longest) return []
  const [prefix = ''] = text.split('_')
  if (prefix === 'rcpt' || prefix === 'run') return findReceipt(deps, text)
  if (prefix === 'anc')
    return ofAnchor(isId('anc', text) ? await deps.explorer.anchor(text) : undefined)
  if (/^#?\d{1,15}$/.test(text)) return findPlace(deps, Number(text.replace('#', '')))
  if (/^(0x)?[0-9a-fA-F]{64}$/.test(text)) {
    return findHash(deps, `0x${text.toLowerCase().replace(/^0x/, '')}`)
  }
  if (isAddress(text)) return findAddress(deps, toAccountId(text))
  return findHandle(deps, text.replace(/^@/, '').toLowerCase())
}

async function findReceipt({ shares }: Deps, id: string): Promise<Found[]> {
  const receiptId = isId('run', id) ? receiptIdOf(id) : id
  const share = isId('rcpt', receiptId) ? await shares.find(receiptId) : undefined
  return share?.visibility === 'public' ? ofReceipt(receiptId) : []
}

/** A number is both the index of a receipt in the current log and the size of a signed head. */
async function findPlace(deps: Deps, number: number): Promise<Found[]> {
  const { origin, start } = deps.logs.current
  const row = await deps.checkpoints.find(origin, number)
  const found = ofReceipt(await deps.explorer.publicAt(start + number))
  return row ? [...found, { is: 'checkpoint', row }] : found
}

async function findHash({ explorer, logs }: Deps, hash: string): Promise<Found[]> {
  const bytes = fromHex(hash)
  return [
    ...ofReceipt(await explorer.publicByDigest(bytes)),
    ...ofAnchor(await explorer.anchorByTx(hash)),
    ...ofAnchor(await explorer.anchorByRoot(logs.current.origin, bytes)),
  ]
}

async function findAddress(deps: Deps, address: string): Promise<Found[]> {
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
    ...[...new Set(held)].map((role): Found => {
      return { is: 'address', address: toChecksumAddress(address), role }
    }),
    ...passports.map((one): Found => ({ is: 'passport', ...one })),
  ]
}

async function findHandle({ passports }: Deps, handle: string): Promise<Found[]> {
  const row = isHandle(handle) ? await passports.find(handle) : undefined
  if (row?.status !== 'public') return []
  return [{ is: 'passport', handle, displayName: row.displayName }]
}

const ofReceipt = (id: string | undefined): Found[] => (id ? [{ is: 'receipt', id }] : [])

const ofAnchor = (row: AnchorRow | undefined): Found[] => (row ? [{ is: 'anchor', row }] : [])
