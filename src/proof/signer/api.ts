/** `GET /v1/signer`: the keys that sign receipts, their ranges, and the signed types. */
import { Elysia } from 'elysia'
import type { Deps } from '../../app/deps-port.ts'
import { toRfc3339 } from '../../kernel/clock.ts'
import { toHex } from '../../kernel/hex.ts'
import type { SignerRow } from '../../storage/db/schema/schema.ts'
import { domain, type StructName, structs } from '../../verify/eip712.ts'
import { logIdOf } from '../../verify/proof.ts'
import { keyTypes, noteKey, vkeyOf } from '../../verify/signed-note.ts'
import { jsonText } from '../../web/http/json-text.ts'
import { openToAnyOrigin } from '../../web/http/methods.ts'
import { indexIn, type LogSpan, prefixOf } from '../log/logs.ts'
import { logNoteKey } from '../log/notes.ts'
import type { SignerAnswer } from './shapes.ts'

const typesOf = (names: readonly StructName[]) =>
  Object.fromEntries(
    names.map((name) => [name, structs[name].map(([type, member]) => ({ name: member, type }))]),
  )

/** The types of a receipt alone, because wallet libraries refuse a set with unused types. */
const receiptTypes = typesOf(['Receipt', 'Subject', 'Passport', 'Run', 'Charge', 'Line', 'Content'])
const otherTypes = typesOf([
  ...(['Checkpoint', 'PriceList', 'SignerRotation', 'LogReopening'] as const),
  ...(['Quote', 'Rate', 'ExportManifest', 'Liabilities'] as const),
])

export const signerApi = (deps: Deps) =>
  new Elysia({ name: 'signer-api' }).get(
    '/v1/signer',
    ({ set }) => jsonText(set, signerText(deps)),
    openToAnyOrigin,
  )

/** The answer of `/v1/signer` as JSON text, cached until the next write. */
const signerText = (deps: Deps): string | Promise<string> =>
  deps.readCache(`signer ${deps.signers.current.address}`, async () =>
    JSON.stringify(await signerOf(deps)),
  )

/** The answer of `GET /v1/signer`. */
export async function signerOf(deps: Deps): Promise<SignerAnswer> {
  const { settings, signers, logs } = deps
  const { current } = signers
  const size = await deps.logStore.size()
  const { origin } = logs.current
  return {
    object: 'signer',
    address: current.address,
    public_key: current.publicKey,
    scheme: 'eip712-secp256k1',
    issuer: origin,
    domain,
    types: receiptTypes,
    primary_type: 'Receipt',
    other_types: otherTypes,
    from_index: current.fromIndex,
    previous: historyOf(deps, origin).slice(0, -1),
    log: { id: logIdOf(origin), origin, size, prefix: prefixOf(origin) },
    note_key: vkeyOf(logNoteKey(deps, origin)),
    former_logs: logs.all.slice(0, -1).map((log) => formerView(deps, log)),
    registry: (await deps.anchoring.registry()) ?? null,
    registry_log_id: (await deps.anchoring.placeOf(origin))?.id ?? null,
    treasury: settings.treasury,
    token: settings.token,
    max_anchor_delay_s: settings.maxAnchorDelayS,
  }
}

/** A log that was abandoned: its receipts stand, and its signers for them. */
const formerView = (deps: Deps, log: LogSpan) => ({
  id: logIdOf(log.origin),
  origin: log.origin,
  size: (log.end ?? log.start) - log.start,
  opened_at: toRfc3339(log.openedAt),
  reason_of_opening: log.reason || null,
  prefix: prefixOf(log.origin),
  note_key: vkeyOf(logNoteKey(deps, log.origin)),
  signers: historyOf(deps, log.origin),
})

/** The signers of a log, each with the statement that ended its range. */
const historyOf = ({ signers, logs }: Deps, issuer: string) =>
  signers.of(issuer).map((row, i, all) => {
    const next = all[i + 1]
    const noted = signers.noteKeys.get(row.address)
    return {
      address: row.address,
      public_key: row.publicKey,
      from_index: row.fromIndex,
      until_index: row.untilIndex,
      note_key: noted ? vkeyOf(noteKey(issuer, keyTypes.ed25519, noted)) : null,
      rotation: next ? statementView(next, indexIn(logs, next)) : null,
    }
  })

/** The statement, the signature of the key that it ended, and the index of its leaf. */
const statementView = (row: SignerRow, index: number | null) => ({
  issuer: row.issuer,
  previous: row.previous,
  next: row.address,
  fromIndex: row.fromIndex,
  reason: row.reason,
  signature: row.signature && toHex(row.signature),
  log_index: index,
})
