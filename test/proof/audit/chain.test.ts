import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type AuditReport, auditService } from '../../../src/proof/audit/audit.ts'
import { noAnvil } from '../../contracts/anvil.ts'
import { program } from '../../support/program.ts'
import { type Anchored, anchoredWorld, senderAddress } from '../anchors/anchored.ts'

// A chain and a command line on a busy machine.
setDefaultTimeout(120_000)

describe.skipIf(noAnvil)('the audit of a running server and its chain', () => {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-audit-'))
  let a: Anchored
  beforeAll(async () => {
    a = await anchoredWorld()
    for (let round = 0; round < 3; round++) {
      await a.receipts(2)
      await mineUntilFinal(round + 1)
      a.advance(15_000)
    }
    await a.receipts(1)
  })
  afterAll(async () => {
    await a?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  async function mineUntilFinal(anchors: number): Promise<void> {
    for (let i = 0; i < 40; i++) {
      await a.look()
      const made = await a.anchors()
      if (made.length >= anchors && made.every((one) => one.startsWith('final'))) return
      await a.rpc('evm_mine')
      a.advance(1000)
    }
    throw new Error(`not final: ${await a.anchors()}`)
  }

  type Answer = Record<string, unknown> & { data: Record<string, unknown>[] }

  /** The audit, by way of someone who may change the list of anchors. */
  async function audit(
    change: (answer: Answer) => void = () => {},
    by: { registry?: string; owner?: string } = {},
  ): Promise<AuditReport> {
    const { chain } = a.deps
    if (!chain) throw new Error('the service has no chain')
    const service = {
      get: async (path: string) => {
        const answer = await (await a.call(path)).json()
        if (path.startsWith('/v1/anchors')) change(answer)
        return answer
      },
    }
    return auditService({ service, chain: { chain, registry: a.registry.address, ...by } })
  }
  const having = ({ checks }: AuditReport, status: string) =>
    checks.filter((check) => check.status === status).map(({ name }) => `${name}`)

  test('holds: every root, the count, the signers, all proofs between', async () => {
    const report = await audit()
    expect([report.holds, report.anchors, having(report, 'fail')]).toEqual([true, 3, []])
    expect(having(report, 'skip')).toEqual(['remembered', 'chain_holdings'])
    expect((await audit(undefined, { owner: senderAddress })).holds).toBe(true)
  })

  test('finds an anchor that the service does not list, and one that the chain does not have', async () => {
    const hidden = await audit((answer) => void answer.data.splice(1, 1))
    expect(having(hidden, 'fail')).toEqual(['chain_count'])
    const newest = await audit((answer) => void answer.data.shift())
    expect(having(newest, 'fail')).toEqual(['chain_count'])
    const made = await audit(({ data }) => void Object.assign(data[0] ?? {}, { status: 'failed' }))
    expect(having(made, 'fail')).toEqual(['chain_count'])
    const other = await audit(({ data }) => {
      Object.assign(data[1] ?? {}, { root: `0x${'12'.repeat(32)}` })
    })
    expect(having(other, 'fail')).toEqual(['consistency', 'chain_roots', 'chain_final'])
  })

  test('finds a signer whom the registry does not know', async () => {
    const { get } = { get: async (path: string) => (await a.call(path)).json() }
    const service = {
      get: async (path: string) =>
        path === '/v1/signer' ? { ...(await get(path)), address: senderAddress } : get(path),
    }
    const { chain } = a.deps
    if (!chain) throw new Error('the service has no chain')
    const on = { chain, registry: a.registry.address }
    const report = await auditService({ service, chain: on })
    expect(having(report, 'fail')).toEqual(['checkpoint', 'chain_signers'])
  })

  test('says what it cannot check: no registry there, a log that no one opened', async () => {
    const none = await audit(undefined, { registry: senderAddress })
    expect([none.holds, having(none, 'fail'), having(none, 'unavailable').length]).toEqual([
      false,
      [],
      4,
    ])
    const stranger = await audit(undefined, { owner: a.registry.address })
    expect(having(stranger, 'fail')).toEqual(['chain_roots', 'chain_final', 'chain_count'])
    expect(having(stranger, 'unavailable')).toEqual(['chain_signers'])
  })

  /** `counterfoil audit`, from the project's folder. */
  async function cli(...args: string[]) {
    const cwd = join(import.meta.dir, '../../..')
    const command = [...program, 'audit', ...args]
    const run = Bun.spawn(command, { cwd, stdout: 'pipe', stderr: 'pipe' })
    const [stdout, stderr] = await Promise.all([
      new Response(run.stdout).text(),
      new Response(run.stderr).text(),
    ])
    return { code: await run.exited, stdout, stderr }
  }

  test('at the command line ends with 0, and remembers', async () => {
    const state = join(folder, 'state.json')
    const args = ['--base', a.origin, '--rpc', a.chain.url, '--registry', a.registry.address]
    const first = await cli(...args, '--state', state)
    expect([first.code, first.stdout]).toEqual([0, expect.stringContaining('Every check passed')])
    for (const name of ['chain_count', 'note', 'tiles', 'heads', 'chain_head']) {
      expect(first.stdout).toMatch(new RegExp(`^✓ ${name} `, 'm'))
    }
    expect(existsSync(state)).toBe(true)
    const seen = readFileSync(state, 'utf8')
    await a.receipts(3)
    const second = await cli('--base', a.origin, '--state', state, '--json')
    const report = JSON.parse(second.stdout)
    expect([second.code, having(report, 'skip')]).toEqual([
      0,
      [
        ...['chain_roots', 'chain_final', 'chain_count', 'chain_signers', 'chain_holdings'],
        ...['cosignatures', 'chain_head', 'receipts', 'quotes'],
      ],
    ])
    expect(having(report, 'pass')).toContain('remembered')
    const kept = JSON.parse(seen)
    const forged = JSON.stringify({ ...kept, root: `0x${'12'.repeat(32)}` })
    writeFileSync(state, forged)
    const split = await cli('--base', a.origin, '--state', state)
    expect([split.code, split.stdout]).toEqual([1, expect.stringContaining('it was rewritten')])
    // The state that shows the split stays, for a closer look.
    expect(readFileSync(state, 'utf8')).toBe(forged)
  })

  test('ends with 2 for a wrong call, 3 without a service', async () => {
    expect((await cli()).code).toBe(2)
    expect((await cli('--base', 'nonsense')).code).toBe(2)
    expect((await cli('--base', a.origin, '--rpc', a.chain.url)).code).toBe(2)
    const unreachable = await cli('--base', 'http://127.0.0.1:9')
    expect([unreachable.code, unreachable.stdout.includes('✗')]).toEqual([3, false])
  })
})
