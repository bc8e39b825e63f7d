/**
 * `bun bench/crypto.ts [rounds]`: CPU of Keccak-256 by message length, of a receipt's digest and of
 * the recovery of a signer, with each implementation of Keccak in turn in one process.
 */
import { hexToBytes } from '@noble/hashes/utils.js'
import { createKeccak } from 'hash-wasm'
import { toHex } from '../src/kernel/hex.ts'
import { systemRandom } from '../src/kernel/random.ts'
import { digestOf, factsOf } from '../src/proof/receipts/receipt.ts'
import { signerFromBytes } from '../src/proof/signer/signer.ts'
import { wasmMemory } from '../src/verify/fast/keccak-wasm.ts'
import { type KeccakMemory, keccak256, portableMemory, useKeccak } from '../src/verify/keccak.ts'
import { recoverSigner } from '../src/verify/signature.ts'
import { endedRun } from './ended-run.ts'
import { costOf } from './log-parts.ts'
import { middle } from './table.ts'

const rounds = Number(Bun.argv[2] ?? 9)
const random = systemRandom()
const signer = signerFromBytes(hexToBytes('07'.repeat(32)), 'the key of the bench')
const facts = Array.from({ length: 1000 }, (_, index) => {
  const row = endedRun({
    id: `run_01jd${index.toString().padStart(22, '0')}`,
    issuer: 'https://gw.example',
    account: '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
    keyId: `key_${index % 50}`,
    finishedAt: 1_790_000_000_000 + index,
    index,
  })
  return factsOf({ ...row, finishedAt: row.createdAt, seed: random.bytes(32) })
})
const signatures = facts.slice(0, 100).map((one) => {
  const digest = digestOf(one)
  return { digest, signature: toHex(signer.sign(digest)) }
})

const messages = [32, 130, 260, 500, 1000].map((length) => random.bytes(length))
const work: Record<string, { turns: number; once: (turn: number) => unknown }> = {}
for (const message of messages) {
  work[`keccak of ${message.length} bytes`] = { turns: 20_000, once: () => keccak256(message) }
}
work['digest of a receipt'] = {
  turns: 10 * facts.length,
  once: (turn) => digestOf(facts[turn % facts.length] ?? raise()),
}
work['recovery of a signer'] = {
  turns: signatures.length,
  once(turn) {
    const { digest, signature } = signatures[turn] ?? raise()
    if (!recoverSigner(digest, signature).ok) raise()
  },
}

const hasher = await createKeccak(256)
const libraryMemory = (): KeccakMemory => {
  const { bytes } = portableMemory()
  const hash: KeccakMemory['hash'] = (at, length, out) =>
    bytes.set(
      hasher
        .init()
        .update(bytes.subarray(at, at + length))
        .digest('binary'),
      out,
    )
  return { bytes, hash }
}
const implementations = {
  'fast/': wasmMemory,
  'hash-wasm': libraryMemory,
  '@noble/hashes': portableMemory,
}
const costs = new Map<string, number[]>()
for (let round = -3; round < rounds; round++) {
  for (const [name, make] of Object.entries(implementations)) {
    useKeccak(make)
    for (const [what, { turns, once }] of Object.entries(work)) {
      const us = await costOf(turns, async () => {
        for (let turn = 0; turn < turns; turn++) once(turn)
      })
      const row = `${what}, ${name}`
      if (round >= 0) costs.set(row, [...(costs.get(row) ?? []), us])
    }
  }
}
for (const [row, all] of costs) console.log(`${middle(all).toFixed(2).padStart(10)} µs  ${row}`)

function raise(): never {
  throw new Error('the bench ran out of samples')
}
