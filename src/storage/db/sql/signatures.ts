/** Lays signatures of neighbouring receipts into one row, which costs a server as much as one. */
import { signatureBytes, signaturesMax } from '../schema/run-columns.ts'

/** The signature of the receipt at a place of the log. */
export type PlacedSignature = { place: number; signature: Uint8Array }

/** The rows of signatures in the order of their places. */
export function signatureRows(signed: readonly PlacedSignature[]): PlacedSignature[] {
  const rows: PlacedSignature[][] = []
  for (const one of signed) {
    const row = rows.at(-1)
    const isNext = row !== undefined && row.at(-1)?.place === one.place - 1
    if (isNext && row.length < signaturesMax) row.push(one)
    else rows.push([one])
  }
  return rows.map((row) => {
    const signature = new Uint8Array(row.length * signatureBytes)
    for (const [i, one] of row.entries()) signature.set(one.signature, i * signatureBytes)
    return { place: row[0]?.place ?? 0, signature }
  })
}
