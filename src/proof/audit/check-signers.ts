/** The audit's checks of signers: gapless ranges and signed rotations. */
import { fail, type Outcome, pass, unavailable } from '../../verify/checks.ts'
import { structDigest } from '../../verify/eip712.ts'
import { recoverSigner } from '../../verify/signature.ts'
import type { Rotation, SignerAnswer } from './answers.ts'
import { count, type ServiceView } from './service-view.ts'

/** The signers' ranges are gapless, and one signer is current. */
export function checkRanges({ signers }: ServiceView): Outcome {
  for (const [i, signer] of signers.entries()) {
    const next = signers[i + 1]
    if (i === 0 && signer.fromIndex !== 0) {
      return fail(`The first signer begins at index ${signer.fromIndex}; who signed below it?`)
    }
    if (signer.untilIndex !== (next?.fromIndex ?? null)) {
      const [ends, begins] = [signer.untilIndex ?? 'nowhere', next?.fromIndex ?? 'nowhere']
      return fail(`The range of ${signer.address} ends at ${ends}; the next begins at ${begins}.`)
    }
  }
  const addresses = new Set(signers.map(({ address }) => address.toLowerCase()))
  if (addresses.size < signers.length) return fail('One key has two ranges.')
  const now = signers.at(-1)
  return pass(`${count(signers.length, 'signer')} without a gap; ${now?.address} is current.`)
}

/** Each signer but the first was named by its predecessor, in a signed statement. */
export function checkRotations({ origin, signers }: ServiceView): Outcome {
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
    if (!recovered.ok) return fail(`Rotation to ${signer.address}: ${recovered.reason}`)
    if (!isSame(recovered.address, before.address)) {
      const found = `found that of ${recovered.address}`
      return fail(`${signer.address}: expected the signature of ${before.address}; ${found}.`)
    }
  }
  if (missing.length > 0) {
    const who = missing.join(', ')
    return unavailable(
      `No predecessor signed for ${who}, because its key was lost. Ask the operator.`,
    )
  }
  return signers.length < 2
    ? pass('The first key still signs.')
    : pass(`${count(signers.length - 1, 'rotation')}, each signed by the key before.`)
}

/** How a statement contradicts this change; undefined if it agrees. */
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
