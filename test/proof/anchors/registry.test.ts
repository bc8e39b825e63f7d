import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { AbiItem } from 'viem'
import artefact from '../../../contracts/AnchorRegistry.json' with { type: 'json' }
import { toHex } from '../../../src/kernel/hex.ts'
import { keepAnchored } from '../../../src/proof/anchors/publish.ts'
import {
  NoRegistry,
  readEvidence,
  registryAbi,
  registryErrorOf,
} from '../../../src/proof/anchors/registry.ts'
import { headOnChain } from '../../../src/proof/anchors/watch.ts'
import type { SignerRow } from '../../../src/storage/db/schema/schema.ts'
import { noAnvil } from '../../contracts/anvil.ts'
import { outcomeOf, rejectionOf } from '../../support/rejection.ts'
import { world } from '../../support/world.ts'
import { type Anchored, anchoredWorld, senderAddress, senderKey } from './anchored.ts'

const stranger = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'

test('every call, event and error of the code is one of the compiled contract', () => {
  const signature = (item: AbiItem): string => {
    if (!('name' in item) || !('inputs' in item)) return ''
    const types = (item.inputs ?? []).map(({ type }) => type)
    return `${item.type} ${item.name}(${types.join()})`
  }
  const compiled = (artefact.abi as AbiItem[]).map(signature)
  for (const item of registryAbi) expect(compiled).toContain(signature(item))
})

describe.skipIf(noAnvil)('what the chain says of a log', () => {
  let a: Anchored
  const asked = async () => {
    const proof = await a.proof(await a.receipts(1))
    const { size, checkpoint } = proof
    const { registry } = a
    const named = { registry: registry.address, owner: senderAddress, origin: checkpoint.issuer }
    const signer = a.deps.signer.address
    return { ...named, size: BigInt(size), signer, index: 0n, root: checkpoint.root }
  }
  const chain = () => a.deps.chain ?? expect.unreachable()
  beforeAll(async () => {
    a = await anchoredWorld()
  }, 60_000)
  afterAll(() => a.stop())

  test('a root that is not there, that is there, and that is final', async () => {
    const claim = await asked()
    expect(await readEvidence(chain(), claim)).toMatchObject({
      latest: undefined,
      finalized: undefined,
    })
    await a.look(3)
    const read = await readEvidence(chain(), claim)
    expect(read).toMatchObject({ latest: claim.root, finalized: undefined, signerAllowed: true })
    await a.rpc('anvil_mine', '0x3')
    expect(await readEvidence(chain(), claim)).toMatchObject({ finalized: claim.root })
    const other = await readEvidence(chain(), { ...claim, signer: stranger })
    expect(other.signerAllowed).toBe(false)
    const head = await headOnChain(a.deps, claim.origin)
    expect(head && [head.size, toHex(head.root)]).toEqual([Number(claim.size), claim.root])
  })

  test('an address without a registry is told apart from a chain that is down', async () => {
    const claim = { ...(await asked()), registry: stranger }
    expect(await rejectionOf(readEvidence(chain(), claim))).toBeInstanceOf(NoRegistry)
    expect(registryErrorOf('0x30cd7471')).toBe('NotOwner')
    expect(registryErrorOf('0x12345678')).toBeUndefined()
  })

  test('signers that came and went are kept in line there', async () => {
    const { current } = a.deps.signers
    const row = (changed: Partial<SignerRow>): SignerRow => ({ ...current, ...changed })
    const rows = [row({ untilIndex: 9 }), row({ address: stranger, fromIndex: 9 })]
    const deps = { ...a.deps, signers: { ...a.deps.signers, of: () => rows } }
    for (let i = 0; i < 4; i++) await keepAnchored(deps)
    const id = (await a.deps.anchoring.placeOf(current.issuer))?.id
    expect(await a.registry.read('isSigner', id, current.address, 8n)).toBe(true)
    expect(await a.registry.read('isSigner', id, current.address, 9n)).toBe(false)
    expect(await a.registry.read('isSigner', id, stranger, 8n)).toBe(false)
    expect(await a.registry.read('isSigner', id, stranger, 9n)).toBe(true)
    const purposes = (await a.transactions()).map(({ purpose }) => purpose)
    expect(purposes.filter((one) => /signer/.test(one))).toEqual(['retire_signer', 'add_signer'])
  })
})

describe('what is anchored by whom', () => {
  test('the key that signs receipts may not pay for anchors', async () => {
    const sender = 'ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
    expect(await outcomeOf(world({ sender }))).toThrow('one that signs receipts')
  })

  test('without an RPC server, or without a sender, or without a registry nothing is on', async () => {
    const rpc = '[chain]\nrpc_urls = ["http://127.0.0.1:1"]\n'
    const registry = `[anchors]\nregistry = "${stranger}"\n`
    const parts = [
      { toml: registry, sender: senderKey },
      { toml: rpc + registry },
      { toml: rpc, sender: senderKey },
    ]
    for (const part of parts) {
      const w = await world(part)
      await keepAnchored(w.deps)
      const { anchors, log } = await (await w.call('/v1/status')).json()
      expect(anchors).toEqual({ status: 'disabled', lag_s: null })
      expect(log).toMatchObject({ anchored_size: 0, oldest_unanchored_s: null })
      await w.stop()
    }
  }, 30_000)
})
