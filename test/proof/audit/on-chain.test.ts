import { describe, expect, test } from 'bun:test'
import { decodeFunctionData, encodeFunctionResult } from 'viem'
import { ChainUnavailable } from '../../../src/kernel/chain.ts'
import type { Hex } from '../../../src/kernel/hex.ts'
import { openEnd, registryAbi } from '../../../src/proof/anchors/registry.ts'
import { type AuditCheckName, auditService } from '../../../src/proof/audit/audit.ts'
import type { OnChain } from '../../../src/proof/audit/check-chain.ts'
import { registryLogId } from '../../../src/verify/check-anchor.ts'
import { outcomeOf } from '../../support/rejection.ts'
import { owner, registry } from '../../verify/anchor-samples.ts'
import { facts, testSigner } from '../../verify/samples.ts'
import { anchorAnswer, oldSigner, type Paper, paper, rotatedSigner, serviceOf } from './paper.ts'

type Anchors = Record<string, string>
type Range = [from: bigint, until: bigint]

/** What the registry knows of the sample log. */
type Known = {
  latest: Anchors
  finalized: Anchors
  head: { size: number; count: number }
  signers: Record<string, Range>
  owner: Hex
}

const rootsAt = (...sizes: number[]): Anchors =>
  Object.fromEntries(sizes.map((size) => [size, String(anchorAnswer(size)['root'])]))

const known = (change: Partial<Known> = {}): Known => ({
  latest: rootsAt(5, 13, 29),
  finalized: rootsAt(5, 13, 29),
  head: { size: 29, count: 3 },
  signers: { [testSigner.address]: [0n, openEnd] },
  owner: owner as Hex,
  ...change,
})

const none: Hex = `0x${'00'.repeat(32)}`
const logId = registryLogId(registry, owner, facts.issuer)

/** Answers as the contract does, for the sample log alone. */
function chainOf(of: Known): OnChain['chain'] {
  return {
    call: async (_, data, at) => {
      const { functionName, args } = decodeFunctionData({ abi: registryAbi, data: data as Hex })
      const isOurs = args?.[0] === logId
      const answer = (name: typeof functionName, result: unknown) =>
        encodeFunctionResult({ abi: registryAbi, functionName: name, result } as never)
      if (functionName === 'rootAt') {
        const roots = at === 'finalized' ? of.finalized : of.latest
        return answer('rootAt', (isOurs && roots[String(args[1])]) || none)
      }
      if (functionName === 'head') {
        const { size, count } = isOurs ? of.head : { size: 0, count: 0 }
        return answer('head', [BigInt(size), none, count])
      }
      if (functionName === 'logs') {
        return answer('logs', [isOurs ? of.owner : `0x${'00'.repeat(20)}`, 0n, 0])
      }
      const range = isOurs ? of.signers[String(args?.[1])] : undefined
      return answer('signers', range ? [...range, true] : [0n, 0n, false])
    },
  }
}

async function audit(of: Known, change: Partial<Paper> = {}, by: Partial<OnChain> = { owner }) {
  const service = serviceOf(paper(change))
  const report = await auditService({ service, chain: { chain: chainOf(of), registry, ...by } })
  const reasons = Object.fromEntries(report.checks.map(({ name, reason }) => [name, reason]))
  const having = (status: string) =>
    report.checks.filter((check) => check.status === status).map(({ name }) => `${name}`)
  return { ...report, reason: (name: AuditCheckName) => reasons[name] ?? '', having }
}

describe('a chain that says what the service says', () => {
  test('holds, and names what was compared', async () => {
    const { holds, reason, having } = await audit(known())
    expect([holds, having('skip')]).toEqual([true, ['remembered', 'liabilities', 'chain_holdings']])
    expect(reason('chain_roots')).toBe(`The registry ${registry} has 3 roots of 3.`)
    expect(reason('chain_final')).toBe('3 roots in a final block.')
    expect(reason('chain_count')).toBe(
      'The registry counts 3 anchors, as many as the service lists.',
    )
    expect(reason('chain_signers')).toBe('The registry names the same 1 signer and ranges.')
  })

  test('holds by the owner that the service names, and says that it did', async () => {
    const { get } = serviceOf(paper())
    const service = {
      get: async (path: string) => {
        const answer = (await get(path)) as object
        return path.startsWith('/v1/anchors') ? { ...answer, log_owner: owner } : answer
      },
    }
    const report = await auditService({ service, chain: { chain: chainOf(known()), registry } })
    expect(report.holds).toBe(true)
    const roots = report.checks.find(({ name }) => name === 'chain_roots')
    expect(roots?.reason).toEndWith(`The owner ${owner} is only the service's claim.`)
  })

  test('holds where an anchor is not final yet, and says so', async () => {
    const young = paper().anchors.map((one, i) => (i === 2 ? { ...one, status: 'confirmed' } : one))
    const of = known({ finalized: rootsAt(5, 13) })
    const { holds, reason } = await audit(of, { anchors: young })
    expect([holds, reason('chain_final')]).toEqual([
      true,
      '2 roots in a final block. 1 anchor not final yet.',
    ])
  })

  test('The audit holds with nothing anchored.', async () => {
    const of = known({ latest: {}, finalized: {}, head: { size: 0, count: 0 } })
    expect((await audit(of, { anchors: [] })).holds).toBe(true)
  })

  test('holds across a rotation, signer by signer', async () => {
    const signers: Known['signers'] = {
      [oldSigner.address]: [0n, 20n],
      [testSigner.address]: [20n, openEnd],
    }
    const { holds, reason } = await audit(known({ signers }), { signer: rotatedSigner() })
    expect([holds, reason('chain_signers')]).toEqual([
      true,
      'The registry names the same 2 signers and ranges.',
    ])
  })
})

describe('a chain that says something else', () => {
  test.each<[what: string, of: Partial<Known>, names: string[], reason: string]>([
    ['no root at a size', { latest: rootsAt(5, 29) }, ['chain_roots'], 'found none in'],
    [
      'another root at a size',
      { latest: { ...rootsAt(5, 29), 13: `0x${'12'.repeat(32)}` } },
      ['chain_roots'],
      'At size 13, expected the root 0x',
    ],
    [
      'no root in a final block',
      { finalized: rootsAt(5, 29) },
      ['chain_final'],
      'At size 13, expected the root 0x',
    ],
    [
      'one anchor more',
      { head: { size: 29, count: 4 } },
      ['chain_count'],
      'The registry counts 4 anchors; the service lists 3.',
    ],
    [
      'one anchor fewer',
      { head: { size: 29, count: 2 } },
      ['chain_count'],
      'The registry counts 2 anchors; the service lists 3.',
    ],
    [
      'another head',
      { head: { size: 30, count: 3 } },
      ['chain_count'],
      "The registry's head is of size 30; the service says 29.",
    ],
    [
      'no such signer',
      { signers: {} },
      ['chain_signers'],
      `The registry does not know the signer ${testSigner.address}.`,
    ],
    [
      'a signer from later on',
      { signers: { [testSigner.address]: [1n, openEnd] } },
      ['chain_signers'],
      'sign 1 to the end; the service says 0 to the end.',
    ],
    [
      'a signer that was retired',
      { signers: { [testSigner.address]: [0n, 9n] } },
      ['chain_signers'],
      'sign 0 to 9; the service says 0 to the end.',
    ],
  ])('The audit fails for %s.', async (_, change, names, words) => {
    const { holds, having, reason } = await audit(known(change))
    expect([holds, having('fail')]).toEqual([false, names])
    expect(reason(names[0] as AuditCheckName)).toContain(words)
  })

  test('a head where the service says that there is none', async () => {
    const of = known({ latest: {}, finalized: {}, head: { size: 5, count: 0 } })
    const { having, reason } = await audit(of, { anchors: [] })
    expect([having('fail'), reason('chain_count')]).toEqual([
      ['chain_count'],
      "The registry's head is of size 5; the service says 0.",
    ])
  })

  test('of the second signer too', async () => {
    const signers: Known['signers'] = {
      [oldSigner.address]: [0n, openEnd],
      [testSigner.address]: [20n, openEnd],
    }
    const { having, reason } = await audit(known({ signers }), { signer: rotatedSigner() })
    expect(having('fail')).toEqual(['chain_signers'])
    expect(reason('chain_signers')).toEndWith('sign 0 to the end; the service says 0 to 20.')
  })
})

describe('what cannot be asked is unavailable, and does not hold', () => {
  const chainNames = ['chain_roots', 'chain_final', 'chain_count', 'chain_signers']

  test('where no one says who opened the log', async () => {
    const { holds, having, reason } = await audit(known(), {}, {})
    expect([holds, having('unavailable')]).toEqual([false, chainNames])
    expect(reason('chain_roots')).toContain('--owner 0x…')
  })

  test('where the log was not opened', async () => {
    const { having, reason } = await audit(known({ owner: `0x${'00'.repeat(20)}` }))
    expect(having('unavailable')).toEqual(['chain_signers'])
    expect(reason('chain_signers')).toContain('was not opened in this registry')
  })

  test.each([
    ['the chain does not answer', async () => Promise.reject(new ChainUnavailable('unreachable'))],
    ['there is no registry', async (): Promise<Hex> => '0x'],
  ])('The audit is unavailable where %s.', async (_, call) => {
    const { holds, having, reason } = await audit(known(), {}, { owner, chain: { call } })
    expect([holds, having('unavailable')]).toEqual([false, chainNames])
    expect(reason('chain_count')).toStartWith('The chain could not be read: ')
  })

  test('while our own bug is told as that', async () => {
    const call = async () => Promise.reject(new Error('a bug'))
    expect(await outcomeOf(audit(known(), {}, { owner, chain: { call } }))).toThrow('a bug')
  })
})
