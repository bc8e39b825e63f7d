import { fail, type Outcome, pass, unavailable } from '../../verify/checks.ts'
import { structDigest } from '../../verify/eip712.ts'
import { recoverSigner } from '../../verify/signature.ts'
import type { Rotation, SignerAnswer } from './answers.ts'
import { count, type Told } from './service-view.ts'

/** The ranges of the signers follow each other without a gap, and one signs now. */
export function checkRanges({ signers }: Told): Outcome {
  for (const [i, signer] of signers.entries()) {
    const next = signers[i + 1]
    if (i === 0 && signer.fromIndex !== 0) {
      return fail(`The first signer signs from index ${signer.fromIndex}: who signed before?`)
    }
    if (signer.untilIndex !== (next?.fromIndex ?? null)) {
      const [ends, begins] = [signer.untilIndex ?? 'nowhere', next?.fromIndex ?? 'nowhere']
      return fail(`The range of ${signer.address} ends at ${ends}; the next begins at ${begins}.`)
    }
  }
  const addresses = new Set(signers.map(({ address }) => address.toLowerCase()))
  if (addresses.size < signers.length) return fail('One key has two ranges.')
  const now = signers.at(-1)
  return pass(`${count(signers.length, 'signer')} without a gap; ${now?.address} signs now.`)
}

/** Each signer but the first was named by the one before, over its own signature. */
export function checkRotations({ origin, signers }: Told): Outcome {
  const missing: string[] = []
  for (const [i, signer] of signers.entries()) {
    const before = signers[i - 1]
    if (!before) continue
    const { rotation } = before
    const place = rotation && placeProblem(rotation, before, signer, origin)
    if (place) return fail(place)
    if (!rotation || rotation.signature === null) {
      missing.push(signer.address)
      continue
    }
    const { signature, ...signed } = rotation
    const recovered = recoverSigner(structDigest('SignerRotation', signed), signature)
    if (!recovered.ok) return fail(`Of the rotation to ${signer.address}: ${recovered.reason}`)
    if (!isSame(recovered.address, before.address)) {
      const found = `found that of ${recovered.address}`
      return fail(`${signer.address}: expected the signature of ${before.address}; ${found}.`)
    }
  }
  if (missing.length > 0) {
    const who = missing.join(', ')
    return unavailable(`No key signed for ${who}: its predecessor was gone. Ask the operator.`)
  }
  return signers.length < 2
    ? pass('The first key still signs.')
    : pass(`${count(signers.length - 1, 'rotation')}, each signed by the key before.`)
}

/** What of a statement is not about this change; undefined when all is. */
function placeProblem(
  { issuer, previous, next, fromIndex }: Rotation,
  before: SignerAnswer,
  signer: SignerAnswer,
  origin: string,
): string | undefined {
  const of = `The rotation to ${signer.address}`
  if (issuer !== origin) return `${of} is of another log.`
  if (!isSame(next, signer.address)) return `${of} names ${next}.`
  if (!isSame(previous, before.address)) return `${of} is from ${previous}, not ${before.address}.`
  if (fromIndex === signer.fromIndex) return undefined
  return `${of} is from index ${fromIndex}, not ${signer.fromIndex}.`
}

const isSame = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()
