import { toHex } from '../../../src/kernel/hex.ts'
import type { Rotation } from '../../../src/proof/audit/answers.ts'
import { type Service, ServiceTrouble } from '../../../src/proof/audit/service-view.ts'
import { type Signer, signerFromHex } from '../../../src/proof/signer/signer.ts'
import { structDigest } from '../../../src/verify/eip712.ts'
import { logIdOf } from '../../../src/verify/proof.ts'
import { sampleLog } from '../../verify/proof-samples.ts'
import { facts, testSigner } from '../../verify/samples.ts'

/** What a service on paper says; a test changes any of it. */
export type Paper = {
  signer: Record<string, unknown>
  anchors: Record<string, unknown>[]
  size: number
  seed: number
  /** Where the path between two sizes leads instead. */
  pathTo?: number
  /** Of which sizes it says that the path is. */
  pathOf?: { from?: string; to?: string }
  page?: number
}

/** A well-behaved service with the sample log of 40 leaves and anchors at 5, 13 and 29. */
export const paper = (change: Partial<Paper> = {}): Paper => ({
  signer: signerAnswer(),
  anchors: [5, 13, 29].map(anchorAnswer),
  size: 40,
  seed: 1,
  ...change,
})

export const signerAnswer = (change: object = {}) => ({
  object: 'signer',
  address: testSigner.address,
  issuer: facts.issuer,
  from_index: 0,
  previous: [],
  ...change,
})

export function anchorAnswer(size: number): Record<string, unknown> {
  const { root } = sampleLog(size).checkpoint()
  const id = `anc_${String(size).padStart(4, '0')}`
  return { id, object: 'anchor', status: 'final', size, prev_size: 0, root }
}

/** Answers as the API does, from what is on the paper. */
export function serviceOf(told: Paper): Service {
  const log = sampleLog(told.size, told.seed)
  const listed = [...told.anchors].reverse()
  return {
    get: async (path) => {
      const { pathname, searchParams: query } = new URL(path, 'http://service.example')
      if (pathname === '/v1/signer') return told.signer
      if (pathname === '/liabilities') throw new ServiceTrouble('There is no such page.', true)
      if (pathname !== '/v1/anchors') throw new ServiceTrouble('There is no such page.')
      const limit = Math.min(Number(query.get('limit')), told.page ?? 100)
      const after = listed.findIndex(({ id }) => id === query.get('after'))
      const data = listed.slice(after + 1, after + 1 + limit)
      const from = query.get('from')
      const to = Number(query.get('to'))
      if (to > told.size) throw new ServiceTrouble('There are not so many.')
      const made = from && { ...log.consistency(Number(from), told.pathTo ?? to), to: String(to) }
      const consistency = made && { ...made, ...told.pathOf }
      return {
        data,
        has_more: after + 1 + limit < listed.length,
        last_id: data.at(-1)?.['id'] ?? null,
        log: {
          id: logIdOf(facts.issuer),
          origin: facts.issuer,
          size: told.size,
          checkpoint: told.size === 0 ? null : log.checkpoint(),
        },
        ...(consistency ? { consistency } : {}),
      }
    },
  }
}

/** A key that signed before `testSigner` does. */
export const oldSigner = signerFromHex(`0x${'5a'.repeat(32)}`)

/** How the old key named the one of now, with the fields of the wire. */
export function rotationOf(change: Partial<Rotation> = {}, by: Signer = oldSigner): Rotation {
  const { signature: _, ...rest } = change
  const signed = {
    issuer: facts.issuer,
    previous: oldSigner.address,
    next: testSigner.address,
    fromIndex: 20,
    reason: 'planned',
    ...rest,
  }
  const signature = toHex(by.sign(structDigest('SignerRotation', signed)))
  return { ...signed, signature, ...change }
}

/** A signer that took over at index 20. */
export const rotatedSigner = (rotation: unknown = rotationOf(), until = 20) =>
  signerAnswer({
    from_index: 20,
    previous: [{ address: oldSigner.address, from_index: 0, until_index: until, rotation }],
  })
