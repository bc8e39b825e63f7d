import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { type Hex, hashTypedData, recoverAddress } from 'viem'
import manyMeters from '../fixtures/receipt-every-meter-v1.json'
import file from '../fixtures/receipt-v1.json'
import { promise } from '../support/promise.ts'

// A verifier written from the specification alone: it uses no code of src/.
const types = {
  Receipt: [
    { name: 'id', type: 'string' },
    { name: 'issuer', type: 'string' },
    { name: 'issuedAt', type: 'uint64' },
    { name: 'subject', type: 'Subject' },
    { name: 'passport', type: 'Passport' },
    { name: 'run', type: 'Run' },
    { name: 'charge', type: 'Charge' },
    { name: 'content', type: 'Content' },
  ],
  Subject: [
    { name: 'account', type: 'address' },
    { name: 'key', type: 'string' },
    { name: 'salt', type: 'bytes32' },
  ],
  Passport: [
    { name: 'handle', type: 'string' },
    { name: 'salt', type: 'bytes32' },
  ],
  Run: [
    { name: 'kind', type: 'string' },
    { name: 'model', type: 'string' },
    { name: 'route', type: 'string' },
    { name: 'outcome', type: 'string' },
    { name: 'startedAt', type: 'uint64' },
    { name: 'durationMs', type: 'uint64' },
    { name: 'usageSource', type: 'string' },
    { name: 'salt', type: 'bytes32' },
  ],
  Charge: [
    { name: 'unit', type: 'string' },
    { name: 'lines', type: 'Line[]' },
    { name: 'discountBps', type: 'uint64' },
    { name: 'amount', type: 'uint64' },
    { name: 'priceList', type: 'string' },
    { name: 'salt', type: 'bytes32' },
  ],
  Line: [
    { name: 'meter', type: 'string' },
    { name: 'quantity', type: 'uint64' },
    { name: 'price', type: 'uint64' },
  ],
  Content: [
    { name: 'input', type: 'bytes32' },
    { name: 'output', type: 'bytes32' },
  ],
}

async function signerOf({ receipt, digest, signature }: typeof file | typeof manyMeters) {
  const domain = { name: 'Counterfoil Receipt', version: '1', chainId: 4663 }
  const found = hashTypedData({ domain, types, primaryType: 'Receipt', message: receipt })
  expect(found).toBe(digest as Hex)
  return recoverAddress({ hash: found, signature: signature as Hex })
}
const signer = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'

promise`G8 H: Receipts and proofs can be verified without our code.`
test('the receipt of version 1 holds for someone who has none of our code', async () => {
  expect(await signerOf(file)).toBe(signer)
})

promise`O4`
test('and so does one with every meter, and with one of a later version', async () => {
  expect(await signerOf(manyMeters)).toBe(signer)
})

test('and so do its commitments', () => {
  for (const name of ['input', 'output'] as const) {
    const { salt, value } = file.disclosures[name]
    const inner = createHash('sha256')
      .update(JSON.stringify(sorted(value)))
      .digest()
    const outer = createHash('sha256')
      .update(`${name}/v1\0`)
      .update(Buffer.from(salt.slice(2), 'hex'))
      .update(inner)
      .digest('hex')
    expect(`0x${outer}`).toBe(file.receipt.content[name])
  }
})

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([name, inner]) => [name, sorted(inner)]))
}
