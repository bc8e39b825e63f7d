import { afterEach, expect, test } from 'bun:test'
import { evidenceCollector } from '../../../src/proof/upstream-evidence/collect-evidence.ts'
import { nextProcess } from '../../support/next-process.ts'
import { promise } from '../../support/promise.ts'
import { until } from '../../support/runs.ts'
import { fundedKey, startNode } from '../../support/services.ts'
import { type SigningUpstream, signingUpstream } from '../../support/signing-upstream.ts'
import { freshDb, sharedEngines, type World } from '../../support/world.ts'
import { ask, collect, payer, rowOf, signedToml, signedWorld } from './evidence-world.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function upstreamOf(): Promise<SigningUpstream> {
  const upstream = await signingUpstream()
  closing.push(upstream.stop)
  return upstream
}

async function worldOf(upstream: SigningUpstream): Promise<World> {
  const w = await signedWorld(upstream.url)
  closing.push(w.stop)
  return w
}

/** One pass of the job of the process that follows. */
async function collectNext(w: World, toml: string) {
  const next = await nextProcess(w, toml)
  closing.push(() => next.db.close())
  // The lease of the process that died runs out.
  w.advance(11_000)
  await evidenceCollector(next.deps)(new AbortController().signal)
  return async (runId: string) => {
    const row = await next.deps.upstreamEvidence.find(runId)
    return [row?.state, row?.reason]
  }
}

promise`E25 H: Evidence that waits outlives a restart, is asked for by one of several nodes, and is
  logged once.`
test('A process that dies between a run and its evidence leaves it to the next one.', async () => {
  const upstream = await upstreamOf()
  const w = await worldOf(upstream)
  const { runId } = await ask(w, await payer(w))
  expect((await rowOf(w, runId)).state).toBe('waiting')
  const stateOf = await collectNext(w, signedToml(upstream.url))
  expect(await stateOf(runId)).toEqual(['attested', null])
})

promise`E25`
test('A stream whose last bytes were on their way is lost, a minute later.', async () => {
  const upstream = await upstreamOf()
  const w = await worldOf(upstream)
  upstream.pause(60_000)
  const { runId } = await ask(w, await payer(w), { stream: true })
  expect((await rowOf(w, runId)).answerHash).toBeNull()
  const stateOf = await collectNext(w, signedToml(upstream.url))
  expect(await stateOf(runId)).toEqual(['waiting', null])
  w.advance(60_000)
  const later = await collectNext(w, signedToml(upstream.url))
  expect(await later(runId)).toEqual(['none', 'lost'])
})

test('An upstream that the configuration does not name any more is not asked.', async () => {
  const upstream = await upstreamOf()
  const w = await worldOf(upstream)
  const { runId } = await ask(w, await payer(w))
  const stateOf = await collectNext(w, '')
  expect(await stateOf(runId)).toEqual(['none', 'unconfigured'])
  expect(upstream.asked).toEqual([])
})

test('An answer without an id has no evidence.', async () => {
  const upstream = await upstreamOf()
  upstream.leaveIdsOut()
  const w = await worldOf(upstream)
  const { runId } = await ask(w, await payer(w))
  const { state, reason, dueAt } = await rowOf(w, runId)
  expect([state, reason, dueAt]).toEqual(['none', 'no_id', null])
})

test('A run of an upstream that signs nothing leaves no row.', async () => {
  const upstream = await upstreamOf()
  const w = await worldOf(upstream)
  const key = await payer(w)
  const json = { model: 'counterfoil/echo-1', messages: [{ role: 'user', content: 'hi' }] }
  await (await w.call('/v1/chat/completions', { key, json })).text()
  expect(await w.deps.upstreamEvidence.waiting()).toBe(0)
  await collect(w)
  expect(upstream.asked).toEqual([])
})

promise`E25`
test.each(sharedEngines)(
  'Of two nodes on %s one asks, and each run is logged once.',
  async (engine) => {
    const upstream = await upstreamOf()
    const { db, drop } = await freshDb(engine)
    closing.push(drop, () => db.close())
    const toml = signedToml(upstream.url)
    const nodes = [await startNode(db, { toml }), await startNode(db, { toml })]
    for (const node of nodes) closing.push(node.stop)
    const [first] = nodes
    if (!first) throw new Error('no node')
    const key = await fundedKey(first)
    const json = { model: 'signed/good', messages: [{ role: 'user', content: 'hi' }] }
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        nodes[i % 2]?.call('/v1/chat/completions', { key, json }),
      ),
    )
    const ids = answers.map((answer) => `run_${answer?.headers.get('x-receipt-id')?.slice(5)}`)
    for (const answer of answers) await answer?.text()
    const store = nodes[0]?.deps.upstreamEvidence
    await until('the evidence of all', async () => (await store?.waiting()) === 0, 20_000)
    const rows = await Promise.all(ids.map((id) => store?.find(id)))
    expect(rows.map((row) => row?.state)).toEqual(ids.map(() => 'attested'))
    expect(new Set(rows.map((row) => row?.logPlace)).size).toBe(20)
    expect(upstream.asked.length).toBe(20)
  },
  40_000,
)
