import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serveWitness, witnessLimits } from '../../../src/app/serve-witness.ts'
import { sha256Hex } from '../../../src/kernel/hash.ts'
import { noteSigner } from '../../../src/proof/signer/ed25519.ts'
import { openWitnessStore } from '../../../src/proof/witnessing/store.ts'
import { makeWitness } from '../../../src/proof/witnessing/witness.ts'
import { keyTypes, noteKey } from '../../../src/verify/signed-note.ts'

const signer = noteSigner(new Uint8Array(32).fill(98))
const key = noteKey('witness.example/2', keyTypes.cosignature, signer.publicKey)
const ignore = () => {}

/** A witness behind the proxies that it trusts, which are all addresses of loopback or none. */
async function asked(
  proxies: string[],
  use: (ask: (from: string) => Promise<number>) => Promise<void>,
) {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-proxied-'))
  const store = openWitnessStore(join(folder, 'witness.db'), sha256Hex)
  const clock = { now: () => 1_700_000_000_000, monotonic: () => 0 }
  const log = { debug: ignore, info: ignore, warn: ignore, error: ignore }
  const keeps = { store, keepFork: () => undefined, take: witnessLimits(clock) }
  const needs = { key, sign: signer.sign, keysOf: () => undefined, ...keeps, clock, log }
  const listen = { hostname: '127.0.0.1', port: 0 }
  const server = serveWitness(makeWitness(needs), listen, proxies)
  try {
    await use(async (from) => {
      const headers = { 'x-forwarded-for': from }
      return (await fetch(`http://127.0.0.1:${server.port}/`, { headers })).status
    })
  } finally {
    await server.stop(true)
    store.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

test('A witness counts the clients of a proxy that it trusts apart, those with IPv6 by their network.', () =>
  asked(['127.0.0.0/8'], async (ask) => {
    const codes = new Set<number>()
    for (let i = 0; i < 140; i++) codes.add(await ask(`2001:db8::${i + 1}`))
    expect([...codes]).toEqual([200, 429])
    expect(await ask('203.0.113.7')).toBe(200)
    expect(await ask('2001:db8:0:1::1')).toBe(200)
  }))

test('A witness believes no address of a proxy that it does not trust.', () =>
  asked([], async (ask) => {
    const codes = new Set<number>()
    for (let i = 0; i < 140; i++) codes.add(await ask(`203.0.113.${i}`))
    expect([...codes]).toEqual([200, 429])
  }))
