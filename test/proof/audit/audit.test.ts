import { describe, expect, test } from 'bun:test'
import { type AuditReport, auditService } from '../../../src/proof/audit/audit.ts'
import { type Service, ServiceTrouble } from '../../../src/proof/audit/service-view.ts'
import type { Checkpoint } from '../../../src/verify/proof.ts'
import { sampleLog, sign } from '../../verify/proof-samples.ts'
import { testSigner } from '../../verify/samples.ts'
import {
  anchorAnswer,
  oldSigner,
  type Paper,
  paper,
  rotatedSigner,
  rotationOf,
  serviceOf,
  signerAnswer,
} from './paper.ts'

const audit = (change: Partial<Paper> = {}, remembered?: Checkpoint) =>
  auditService({ service: serviceOf(paper(change)), ...(remembered && { remembered }) })

const having = ({ checks }: AuditReport, status: string) =>
  checks.filter((check) => check.status === status).map(({ name }) => name)

const chainChecks = ['chain_roots', 'chain_final', 'chain_count', 'chain_signers', 'chain_holdings']

describe('a service whose log is in order', () => {
  test('holds, and says what was not asked', async () => {
    const report = await audit()
    expect([report.holds, report.size, report.anchors]).toEqual([true, '40', 3])
    expect(having(report, 'skip')).toEqual(['remembered', 'liabilities', ...chainChecks] as never)
    expect(having(report, 'pass')).toHaveLength(5)
    expect(report.checkpoint).toEqual(sampleLog(40).checkpoint())
  })

  test('holds page by page, with nothing anchored, and while it is empty', async () => {
    const sizes = [5, 7, 13, 20, 29, 33, 40]
    const many = await audit({ anchors: sizes.map(anchorAnswer), page: 2 })
    expect([many.holds, many.anchors]).toEqual([true, 7])
    expect((await audit({ anchors: [] })).holds).toBe(true)
    const empty = await audit({ anchors: [], size: 0 })
    expect([empty.holds, empty.size, empty.checkpoint]).toEqual([true, null, null])
  })

  test('holds from the first leaf on, and with an anchor that was tried twice', async () => {
    expect((await audit({ anchors: [1, 5].map(anchorAnswer) })).holds).toBe(true)
    const failed = { ...anchorAnswer(13), id: 'anc_0012', status: 'failed' }
    const twice = [anchorAnswer(5), failed, anchorAnswer(13), anchorAnswer(29)]
    const report = await audit({ anchors: twice, page: 1 })
    expect([report.holds, report.anchors]).toEqual([true, 3])
  })

  test('is not asked for a path between two heads of one size', async () => {
    const asked: string[] = []
    const { get } = serviceOf(paper({ anchors: [13, 40].map(anchorAnswer) }))
    const service: Service = {
      get: (path) => {
        asked.push(path)
        return get(path)
      },
    }
    expect((await auditService({ service })).holds).toBe(true)
    expect(asked.filter((path) => path.includes('from='))).toEqual([
      '/v1/anchors?limit=1&from=13&to=40',
    ])
  })

  test('leaves out what did not get to the chain', async () => {
    const ways = ['pending', 'submitted', 'superseded', 'failed']
    const others = ways.map((status, i) => ({ ...anchorAnswer(30 + i), status, root: zero }))
    const report = await audit({ anchors: [...paper().anchors, ...others] })
    expect([report.holds, report.anchors]).toEqual([true, 3])
  })
})

const zero = `0x${'00'.repeat(32)}`
const swap = (at: number, change: object) =>
  paper().anchors.map((anchor, i) => (i === at ? { ...anchor, ...change } : anchor))

describe('a service that lies is found out', () => {
  test.each<[what: string, change: Partial<Paper>, names: string[]]>([
    ['a root in the middle', { anchors: swap(1, { root: zero }) }, ['consistency']],
    ['the last root', { anchors: swap(2, { root: zero }) }, ['consistency']],
    ['a rewritten log', { seed: 3 }, ['consistency']],
    ['a path to another size', { pathTo: 39 }, ['consistency']],
    ['a path that is of a smaller size', { pathOf: { from: '4' } }, ['consistency']],
    ['a path that is of a larger size', { pathOf: { to: '41' } }, ['consistency']],
    ['an anchor beyond the head', { size: 28 }, ['anchors']],
    ['an anchor of an empty log', { size: 0, anchors: [anchorAnswer(1)] }, ['anchors']],
    ['two anchors of one size', { anchors: [5, 13, 13].map(anchorAnswer) }, ['anchors']],
    ['another signer', { signer: signerAnswer({ address: oldSigner.address }) }, ['checkpoint']],
    [
      'one key twice',
      {
        signer: signerAnswer({
          from_index: 20,
          previous: [{ address: testSigner.address, from_index: 0, until_index: 20 }],
        }),
      },
      ['signers'],
    ],
    ['a signer from later on', { signer: signerAnswer({ from_index: 7 }) }, ['signers']],
    [
      'the log of another',
      { signer: signerAnswer({ issuer: 'https://evil.example' }) },
      ['signers'],
    ],
  ])('The audit finds the lie: %s.', async (_, change, names) => {
    const report = await audit(change)
    expect([report.holds, having(report, 'fail')]).toEqual([false, names] as never)
  })

  test.each([
    ['anchors', { anchors: swap(0, { size: '5' }) }],
    ['anchors', { anchors: swap(0, { size: -1 }) }],
    ['anchors', { anchors: swap(0, { root: '0x12' }) }],
    ['signer', { signer: { address: testSigner.address } }],
    ['signer', { signer: signerAnswer({ address: 'me' }) }],
    ['signer', { signer: signerAnswer({ previous: Array(1001).fill(signerAnswer()) }) }],
    ['signer', { signer: signerAnswer({ previous: 'none' }) }],
    ['signer', { signer: [] as never }],
  ])('an answer about its %s that is not as the API says', async (_, change) => {
    const report = await audit(change as never)
    expect([report.holds, having(report, 'fail')]).toEqual([false, ['signers']] as never)
    expect(report.checks[0]?.reason).toContain('violates its API')
  })

  test('a list without an end', async () => {
    const { get } = serviceOf(paper())
    const service: Service = {
      get: async (path) => ({ ...((await get(path)) as object), has_more: true }),
    }
    const report = await auditService({ service })
    expect(having(report, 'fail')).toEqual(['signers'])
  })

  test('a list that does not fall from page to page', async () => {
    const report = await audit({ anchors: [13, 29, 20, 40].map(anchorAnswer), page: 2 })
    expect(having(report, 'fail')).toEqual(['signers'])
    expect(report.checks[0]?.reason).toContain('are inconsistent')
  })

  test('a head of another log, signed by the right key', async () => {
    const { get } = serviceOf(paper({ anchors: [] }))
    const { signature: _, ...signed } = sampleLog(40).checkpoint()
    const checkpoint = sign({ ...signed, issuer: 'https://other.example' })
    const service: Service = {
      get: async (path) => {
        const answer = (await get(path)) as { log?: object }
        return { ...answer, ...(answer.log && { log: { ...answer.log, checkpoint } }) }
      },
    }
    const report = await auditService({ service })
    expect([report.holds, having(report, 'fail')]).toEqual([false, ['checkpoint']] as never)
  })

  test('A service that does not answer could not be checked; it is not called a liar.', async () => {
    const service: Service = {
      get: async () => {
        throw new ServiceTrouble('GET /v1/signer has no answer.')
      },
    }
    const report = await auditService({ service })
    expect([report.holds, having(report, 'unavailable')]).toEqual([false, ['signers']] as never)
    const { get } = serviceOf(paper())
    const breaking: Service = {
      get: (path) => (path.includes('from=') ? service.get(path) : get(path)),
    }
    const broken = await auditService({ service: breaking })
    expect([broken.holds, having(broken, 'unavailable')]).toEqual([false, ['consistency']] as never)
  })
})

describe('what was checked is said', () => {
  const reasonsOf = ({ checks }: AuditReport) =>
    Object.fromEntries(checks.map(({ name, reason }) => [name, reason]))

  test('with how many of each', async () => {
    expect(reasonsOf(await audit())).toMatchObject({
      signers: `1 signer without a gap; ${testSigner.address} is current.`,
      rotations: 'The first key still signs.',
      anchors: '3 anchors, each larger than the one before.',
      consistency: '3 proofs: each head of the log begins with the one before.',
    })
    expect(reasonsOf(await audit({ signer: rotatedSigner() })).rotations).toBe(
      '1 rotation, each signed by the key before.',
    )
    expect(reasonsOf(await audit({ anchors: [anchorAnswer(40)] }))).toMatchObject({
      anchors: '1 anchor, each larger than the one before.',
      consistency: '1 proof: each head of the log begins with the one before.',
    })
  })

  test('also that there was nothing to compare', async () => {
    expect(reasonsOf(await audit({ anchors: [], size: 0 }))).toMatchObject({
      checkpoint: 'The log is empty, so nothing is signed yet.',
      anchors: 'The service lists no anchors yet.',
      consistency: 'Fewer than two heads, so there is nothing to compare yet.',
    })
  })

  test('and of a service that cannot be read nothing is', async () => {
    const report = await audit({ signer: [] as never })
    expect(report).toMatchObject({
      ...{ holds: false, origin: null, size: null, anchors: 0, checkpoint: null },
    })
    expect(having(report, 'skip')).toHaveLength(11)
  })
})

describe('what an earlier audit saw', () => {
  const earlier = sampleLog(17).checkpoint()

  test('The audit passes if all that it saw earlier is still there.', async () => {
    const report = await audit({}, earlier)
    expect([report.holds, having(report, 'skip')]).toEqual([
      true,
      ['liabilities', ...chainChecks],
    ] as never)
    expect((await audit({}, sampleLog(40).checkpoint())).holds).toBe(true)
  })

  test('is not there any more: a rewritten, a shorter, another log', async () => {
    const rewritten = await audit({ seed: 3, anchors: [] }, earlier)
    expect(having(rewritten, 'fail')).toEqual(['remembered'])
    const shorter = await audit({ size: 16, anchors: [] }, earlier)
    expect(having(shorter, 'fail')).toEqual(['remembered'])
    const split = await audit({ size: 17, seed: 3, anchors: [] }, earlier)
    expect(having(split, 'fail')).toEqual(['remembered'])
    const other = { ...earlier, issuer: 'https://other.example' }
    const foreign = await audit({}, other)
    expect(having(foreign, 'fail')).toEqual(['remembered'])
    expect(foreign.checks.find(({ name }) => name === 'remembered')?.reason).toStartWith(
      'The earlier audit saw the log of https://other.example, not of',
    )
  })

  test('was not signed by who could: that is said about the earlier one', async () => {
    const forged = await audit({}, { ...earlier, timestamp: '1' })
    const { status, reason } = forged.checks.find(({ name }) => name === 'remembered') ?? {}
    expect([status, reason?.startsWith('Earlier checkpoint: ')]).toEqual(['fail', true])
    const none = await audit({}, { ...earlier, signature: '0x12' })
    expect(none.checks.find(({ name }) => name === 'remembered')?.reason).toBe(
      'Earlier checkpoint: It is not 65 bytes of lower-case hex.',
    )
  })
})

describe('a signer that took over', () => {
  test('was named by the one before, over its signature', async () => {
    const report = await audit({ signer: rotatedSigner() })
    expect([report.holds, having(report, 'fail')]).toEqual([true, []])
  })

  test.each([
    ['by itself', rotationOf({}, testSigner)],
    ['for another index', rotationOf({ fromIndex: 19 })],
    ['for another key', rotationOf({ next: oldSigner.address })],
    ['by another key', rotationOf({ previous: testSigner.address })],
    ['of another log', rotationOf({ issuer: 'https://evil.example' })],
    ['with another reason than was signed', { ...rotationOf(), reason: 'other' }],
    ['with no signature that can be', { ...rotationOf(), signature: '0x12' }],
  ])('fails when it was named %s', async (_, rotation) => {
    const report = await audit({ signer: rotatedSigner(rotation) })
    expect(having(report, 'fail')).toEqual(['rotations'])
  })

  test('cannot be checked where the key before was gone', async () => {
    for (const rotation of [null, { ...rotationOf(), signature: null }]) {
      const report = await audit({ signer: rotatedSigner(rotation) })
      expect([report.holds, having(report, 'unavailable')]).toEqual([false, ['rotations']] as never)
    }
  })

  test('leaves no gap and no overlap', async () => {
    for (const until of [19, 21]) {
      const report = await audit({ signer: rotatedSigner(rotationOf(), until) })
      expect(having(report, 'fail')).toEqual(['signers'])
    }
  })

  test('may sign the head of which the last leaf is its first, and none before', async () => {
    const early = await audit({ signer: rotatedSigner(), size: 20, anchors: [] })
    expect(having(early, 'fail')).toEqual(['checkpoint'])
    expect((await audit({ signer: rotatedSigner(), size: 21, anchors: [] })).holds).toBe(true)
  })
})
