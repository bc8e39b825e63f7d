import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { signCheckpoint } from '../../../src/proof/log/checkpoint.ts'
import { witnessClient } from '../../../src/proof/log/witness-client.ts'
import { type Query, rows } from '../../../src/storage/db/sql/query-steps.ts'
import { parseHead } from '../../../src/verify/checkpoint-note.ts'
import { verifyInclusion } from '../../../src/verify/merkle.ts'
import { parseNote, parseVkey, verifyNote } from '../../../src/verify/signed-note.ts'
import { parseTlogProof } from '../../../src/verify/tlog-proof.ts'
import { promise } from '../../support/promise.ts'
import { pricedBuiltins, until } from '../../support/runs.ts'
import { engines, usd, world } from '../../support/world.ts'
import { logVkey, startWitness, type WitnessProcess } from './process.ts'

setDefaultTimeout(120_000)

const origins = ['https://a.example', 'https://b.example'] as const

/** A service whose log two witnesses should sign. */
async function service(origin: string, by: WitnessProcess[], engine = engines[0]) {
  const listed = by.map(
    ({ url, vkey }, i) => `[[witnesses]]\nurl = "${url}"\nname = "W${i + 1}"\nkey = "${vkey}"\n`,
  )
  const policy = `[witness_policy]\nrequired = ${by.length}\n`
  const toml = `base_url = "${origin}"\n${policy}${listed.join('')}${pricedBuiltins}`
  const w = await world({ toml, ...(engine && { engine }) })
  const { secret } = await w.key({ balance: 10n * usd })
  const ask = witnessClient(w.deps)
  return {
    w,
    run: async (): Promise<string> => {
      const json = { model: 'counterfoil/echo-1', input: 'hello' }
      return (await (await w.call('/v1/runs', { key: secret, json })).json()).receipt.id
    },
    /** Signs the head of the log and asks the witnesses about it. */
    publish: async () => {
      await w.deps.sequencer.flush()
      await signCheckpoint(w.deps)
      w.advance(6000)
      await ask(new AbortController().signal)
    },
    note: async () => {
      const text = await (await w.call('/log/checkpoint')).text()
      const note = parseNote(text)
      if (!note) throw new Error(text)
      return { text, note, head: parseHead(note.text) }
    },
    witnesses: async () => (await (await w.call('/v1/status')).json()).witnesses,
  }
}

const keysOf = (...vkeys: string[]) => vkeys.flatMap((vkey) => parseVkey(vkey) ?? [])

describe('two operators who witness each other', () => {
  let one: WitnessProcess
  let two: WitnessProcess
  const services: Awaited<ReturnType<typeof service>>[] = []

  beforeAll(async () => {
    const logs = origins.map((origin): [string, string] => [origin, logVkey(origin)])
    one = await startWitness(logs, 'witness.example/1')
    two = await startWitness(logs)
    for (const [i, origin] of origins.entries()) {
      services.push(await service(origin, [one, two], engines[i % engines.length]))
    }
  })
  afterAll(async () => {
    for (const { w } of services) await w.stop()
    expect([await one.stop(), await two.stop()]).toEqual([0, 0])
  })
  const at = (i: number) => {
    const found = services[i]
    if (!found) throw new Error('no such service')
    return found
  }

  test.each([0, 1])('sign the heads of each other (service %p)', async (i) => {
    const { run, publish, note, w, witnesses } = at(i)
    await run()
    await publish()
    const { note: first, head } = await note()
    const known = keysOf(logVkey(origins[i] ?? ''), one.vkey, two.vkey)
    const { signed, broken } = verifyNote(first, known)
    expect([signed.length, broken]).toEqual([3, []])
    const told = await witnesses()
    expect(told.required).toBe(2)
    expect(told.data.map(({ size }: { size: number }) => BigInt(size))).toEqual([
      head?.size,
      head?.size,
    ])
    await run()
    await publish()
    expect((await note()).head?.size).toBe((head?.size ?? 0n) + 1n)
    expect(w.deps.witnesses.troubles.size).toBe(0)
  })

  test('a receipt carries the proof under a head that both signed', async () => {
    const { run, publish, w } = at(0)
    const id = await run()
    const before = await (await w.call(`/v1/receipts/${id}/proof`)).json()
    expect([before.version, before.tlog]).toEqual(['1', undefined])
    await publish()
    const proof = await (await w.call(`/v1/receipts/${id}/proof`)).json()
    const answer = await w.call(`/v1/receipts/${id}/proof?format=tlog`)
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    const text = await answer.text()
    expect([proof.version, proof.tlog]).toEqual(['2', text])
    const tlog = parseTlogProof(text)
    if (!tlog) throw new Error(text)
    const { signed } = verifyNote(tlog.note, keysOf(one.vkey, two.vkey, logVkey(origins[0])))
    expect(signed.length).toBe(3)
    const leaf = new Uint8Array(Buffer.from(proof.leaf.slice(2), 'hex'))
    const { size, root } = tlog.head
    expect(verifyInclusion({ index: tlog.index, size, leaf, path: tlog.path, root })).toBe(true)
    const refused = await w.call(`/v1/receipts/${id}/proof?format=tlog&size=2`)
    expect(refused.status).toBe(400)
  })

  promise`H13 H: No run waits for a witness.`
  test('a run waits for no witness, and one that is back signs what is newest', async () => {
    const { run, publish, note, witnesses, w } = at(0)
    two.kill()
    await run()
    await publish()
    const told = await witnesses()
    expect(told.data.map(({ trouble }: { trouble?: string }) => trouble)).toEqual([
      undefined,
      'unreachable',
    ])
    // The head that both signed is published until it is five minutes old.
    const { head: earlier } = await note()
    const size = await w.deps.logStore.size()
    expect(Number(earlier?.size)).toBe(size - 1)
    expect(await two.restart()).toBe(two.vkey)
    await publish()
    await publish()
    expect(w.deps.witnesses.troubles.size).toBe(0)
    expect(Number((await note()).head?.size)).toBe(size)
  })

  test('a service that lost its memory of a witness learns the size from it', async () => {
    const { w, run } = at(0)
    const { cosignatures } = w.db.tables
    await run()
    await w.deps.sequencer.flush()
    await signCheckpoint(w.deps)
    const all = (q: Query) => q.delete(cosignatures).returning()
    await w.db.write((q) => rows(all(q)))
    await witnessClient(w.deps)(new AbortController().signal)
    const size = await w.deps.logStore.size()
    const { origin } = w.deps.logs.current
    expect((await w.deps.cosignatures.at(origin, size)).length).toBe(2)
  })

  test('a log under a key that a witness does not know is refused until it knows it', async () => {
    const { w, run, publish } = at(1)
    const stranger = logVkey(origins[0])
    one.watch([[origins[1], stranger]])
    await run()
    const trouble = () => [...w.deps.witnesses.troubles.values()]
    await until('the witness to read its logs again', async () => {
      await run()
      await publish()
      return trouble().length > 0
    })
    expect(trouble()).toEqual(['unknown_key'])
    one.watch(origins.map((origin): [string, string] => [origin, logVkey(origin)]))
    await until('the witness to know the key', async () => {
      w.advance(600_000)
      await publish()
      return trouble().length === 0
    })
  })
})

describe('an operator who shows a witness another history', () => {
  promise`H12 H: A fork that is shown to a witness is refused and kept as evidence.`
  test('is refused, and the fork is evidence in a file', async () => {
    const origin = origins[0]
    const witness = await startWitness([[origin, logVkey(origin)]])
    const honest = await service(origin, [witness])
    const forked = await service(origin, [witness])
    try {
      await honest.run()
      await honest.publish()
      const signed = (await honest.note()).text
      expect(parseNote(signed)?.lines.length).toBe(2)
      // The same signer and name, another receipt: of the same size first, then larger.
      await forked.run()
      await forked.publish()
      expect([...forked.w.deps.witnesses.troubles.values()]).toEqual(['contradicted'])
      const [kept] = witness.forks()
      expect(kept?.is_proof).toBe(true)
      const [one, two] = [kept?.signed, kept?.shown].map((text) => parseNote(text ?? ''))
      if (!one || !two) throw new Error('no evidence')
      const key = keysOf(logVkey(origin))
      expect([verifyNote(one, key), verifyNote(two, key)].map((v) => v.signed.length)).toEqual([
        1, 1,
      ])
      const [first, second] = [parseHead(one.text), parseHead(two.text)]
      expect(first?.size).toBe(second?.size)
      expect(first?.root).not.toEqual(second?.root)
      await forked.run()
      forked.w.advance(600_000)
      await forked.publish()
      expect(witness.forks().length).toBe(2)
      expect((await forked.note()).note.lines.length).toBe(1)
      // A database that went back knows less than the witness.
      await honest.run()
      await honest.publish()
      const restored = await service(origin, [witness])
      await restored.run()
      await restored.publish()
      expect([...restored.w.deps.witnesses.troubles.values()]).toEqual(['ahead'])
      await restored.w.stop()
    } finally {
      await honest.w.stop()
      await forked.w.stop()
      await witness.stop()
    }
  })
})
