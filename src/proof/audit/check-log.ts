/** The audit's checks of the log: signed head, growing anchors, consistency. */
import { fromHex, type Hex } from '../../kernel/hex.ts'
import {
  checkSigner,
  fail,
  type Outcome,
  pass,
  told as quoted,
  type TrustedSigner,
} from '../../verify/checks.ts'
import { structDigest } from '../../verify/eip712.ts'
import { verifyConsistency } from '../../verify/merkle.ts'
import type { Checkpoint } from '../../verify/proof.ts'
import { recoverSigner } from '../../verify/signature.ts'
import { readConsistency } from './answers.ts'
import { count, type Service, type ServiceView } from './service-view.ts'

/** A size of the log and its claimed root. */
export type Head = { size: number; root: Hex }

/** The head of the log is signed by the key that may sign its last leaf. */
export function checkCheckpoint({ checkpoint, origin, signers }: ServiceView): Outcome {
  if (!checkpoint) return pass('The log is empty, so nothing is signed yet.')
  return checkSignature(checkpoint, origin, signers)
}

/** Anchored heads grow, and none exceeds the signed checkpoint. */
export function checkAnchors({ anchors, checkpoint }: ServiceView): Outcome {
  const unsorted = anchors.find(({ size }, i) => size <= (anchors[i - 1]?.size ?? 0))
  if (unsorted)
    return fail(`The anchor of size ${unsorted.size} is not larger than the one before.`)
  const last = anchors.at(-1)
  if (last && last.size > Number(checkpoint?.size ?? 0)) {
    return fail(`The anchor of size ${last.size} is beyond the latest checkpoint.`)
  }
  if (!last) return pass('The service lists no anchors yet.')
  return pass(`${count(anchors.length, 'anchor')}, each larger than the one before.`)
}

/** Each head continues the one before, up to the latest checkpoint: nothing was rewritten. */
export async function checkNeighbours(service: Service, view: ServiceView): Promise<Outcome> {
  const heads: Head[] = view.anchors.map(({ size, root }) => ({ size, root }))
  if (view.checkpoint) heads.push(headOf(view.checkpoint))
  let checked = 0
  for (const [i, to] of heads.entries()) {
    const from = heads[i - 1]
    if (!from) continue
    if (!(await continues(service, from, to))) return rewritten(from, to)
    checked++
  }
  return checked === 0
    ? pass('Fewer than two heads, so there is nothing to compare yet.')
    : pass(`${count(checked, 'proof')}: each head of the log begins with the one before.`)
}

/** The log still begins with the head that an earlier audit saved. */
export async function checkRemembered(
  service: Service,
  { origin, checkpoint, signers }: ServiceView,
  earlier: Checkpoint,
): Promise<Outcome> {
  if (earlier.issuer !== origin) {
    return fail(
      `The earlier audit saw the log of ${quoted(earlier.issuer)}, not of ${quoted(origin)}.`,
    )
  }
  const from = headOf(earlier)
  if (!checkpoint || Number(checkpoint.size) < from.size) {
    return fail(`The earlier audit saw ${from.size} leaves; now there are fewer.`)
  }
  if (!(await continues(service, from, headOf(checkpoint)))) {
    return rewritten(from, headOf(checkpoint))
  }
  const signed = checkSignature(earlier, origin, signers)
  return signed.status === 'pass'
    ? pass(`The log still begins with the ${from.size} leaves of the earlier audit.`)
    : { ...signed, reason: `Earlier checkpoint: ${signed.reason}` }
}

function checkSignature(
  { signature, ...signed }: Checkpoint,
  origin: string,
  signers: ServiceView['signers'],
): Outcome {
  if (signed.issuer !== origin) return fail(`The checkpoint is of ${quoted(signed.issuer)}.`)
  const recovered = recoverSigner(structDigest('Checkpoint', signed), signature)
  if (!recovered.ok) return fail(recovered.reason)
  return checkSigner(recovered, trustedSigners({ signers }), BigInt(signed.size) - 1n)
}

/** The signers that a service names, as verifiers take them. */
export const trustedSigners = ({ signers }: Pick<ServiceView, 'signers'>): TrustedSigner[] =>
  signers.map(({ address, fromIndex, untilIndex }) => ({
    address,
    fromIndex: BigInt(fromIndex),
    ...(untilIndex === null ? {} : { untilIndex: BigInt(untilIndex) }),
  }))

/** Whether the service proves that its log at one head begins with another. */
export async function continues(service: Service, from: Head, to: Head): Promise<boolean> {
  if (from.size === to.size) return from.root === to.root
  const answer = await service.get(`/v1/anchors?limit=1&from=${from.size}&to=${to.size}`)
  const { from: first, to: second, path } = readConsistency(answer)
  if (first !== String(from.size) || second !== String(to.size)) return false
  return verifyConsistency({
    from: BigInt(from.size),
    to: BigInt(to.size),
    fromRoot: fromHex(from.root),
    toRoot: fromHex(to.root),
    path: path.map(fromHex),
  })
}

export const headOf = ({ size, root }: Checkpoint): Head => ({ size: Number(size), root })

const rewritten = (from: Head, to: Head): Outcome =>
  fail(`The log of ${to.size} leaves does not begin with that of ${from.size}: it was rewritten.`)
