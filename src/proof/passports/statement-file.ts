/** The file of a signed track record, with its proof. */
import type { Deps } from '../../app/deps-port.ts'
import { sha256 } from '../../kernel/hash.ts'
import { toHex } from '../../kernel/hex.ts'
import type { PassportStatementRow } from '../../storage/db/schema/schema.ts'
import { recoverSigner } from '../../verify/signature.ts'
import { isUnprovable } from '../log/damage.ts'
import { indexIn } from '../log/logs.ts'
import { proofOf } from '../log/proof.ts'
import type { TrackRecord } from './record.ts'
import type { StatementFile } from './statement.ts'

type Needs = Pick<Deps, 'logs' | 'signer' | 'signers'>

/** The statement as a file without its proof. */
export function toStatementFile(deps: Needs, row: PassportStatementRow): StatementFile {
  const index = indexIn(deps.logs, row)
  const signature = toHex(signatureOf(deps, row))
  const recovered = recoverSigner(row.digest, signature)
  if (index === null || !recovered.ok) throw new Error(`a statement of ${row.handle} is not whole`)
  const record: TrackRecord = JSON.parse(row.record)
  return {
    type: 'counterfoil.passport-statement',
    version: '1',
    issuer: row.issuer,
    handle: row.handle,
    as_of_size: String(row.asOfSize),
    record,
    record_hash: toHex(sha256(row.record)),
    digest: toHex(row.digest),
    signature,
    signer: recovered.address,
    log_index: String(index),
  }
}

/** By the key that is valid at its index: after a revocation not the one that signed first. */
function signatureOf({ signer, signers }: Needs, row: PassportStatementRow): Uint8Array {
  const { issuer, logPlace, digest, signature } = row
  // The nonce follows from the digest (RFC 6979): the same key gives the same bytes.
  if (logPlace !== null && signers.covers({ issuer, logPlace })) return signer.sign(digest)
  if (!signature) throw new Error(`a statement of ${row.handle} was left unsigned`)
  return signature
}

/** The file with its proof; a log that disagrees with itself proves nothing any more. */
export async function provenStatement(
  deps: Deps,
  row: PassportStatementRow,
): Promise<StatementFile> {
  const file = toStatementFile(deps, row)
  try {
    const leaf = { id: '', issuer: row.issuer, index: Number(file.log_index) }
    const { receipt_id: _, ...proof } = await proofOf(deps, leaf)
    return { ...file, proof }
  } catch (error) {
    if (isUnprovable(error)) return file
    throw error
  }
}
