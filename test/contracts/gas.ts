/**
 * `bun test/contracts/gas.ts`: measures on anvil what the contracts cost, for docs/contracts.md,
 * where the numbers are copied by hand.
 */
import { type Abi, encodeFunctionData } from 'viem'
import { type Artefact, compile, readSources } from '../../scripts/contracts.ts'
import { fromHex } from '../../src/kernel/hex.ts'
import type { ReceiptFile } from '../../src/verify/receipt.ts'
import fixture from '../fixtures/receipt-v1.json'
import { testSigner } from '../verify/samples.ts'
import { type Contract, openChain } from './chain.ts'
import { hashedForm } from './receipt-form.ts'
import { entryOf, type ReferenceTree, referenceTree, someEntries } from './reference-tree.ts'

const leaves = 300_000
const later = leaves + 1_000
/** Where the receipt of the fixture stands among them. */
const index = 123_456

if (import.meta.main) console.table(await measure(compile(await readSources())))

/** Gas by what costs it; of the two checks what running them costs, as another contract pays. */
export async function measure(
  artefacts: Record<string, Artefact>,
): Promise<Record<string, number>> {
  // Later forks have a floor for calldata, which would hide what a view costs.
  const chain = await openChain('--hardfork', 'cancun')
  try {
    const [owner = '0x'] = chain.accounts
    const { AnchorRegistry, ReceiptVerifier } = artefacts
    if (!AnchorRegistry || !ReceiptVerifier) throw new Error('not compiled')
    const registry = await chain.deploy(AnchorRegistry)
    const verifier = await chain.deploy(ReceiptVerifier)
    const tree = treeWithFixture()
    const id = await registry.read('logIdOf', owner, 'https://gw.example')
    const spent = async (contract: Contract, name: string, ...args: unknown[]) =>
      Number((await contract.send(owner, name, ...args)).gasUsed)
    const running = async (contract: Contract, { abi }: Artefact, name: string, args: unknown[]) =>
      (await spent(contract, name, ...args)) -
      intrinsic(encodeFunctionData({ abi: abi as Abi, functionName: name, args }))

    const consistency = tree.consistency(leaves, later)
    const proof = {
      size: BigInt(leaves),
      index: BigInt(index),
      path: tree.inclusion(index, leaves),
    }
    const place = [id, proof.size, proof.index, tree.leaf(index), proof.path]
    const { receipt, signature } = fixture as ReceiptFile
    const whole = [registry.address, id, hashedForm(receipt), signature, proof]
    return {
      'deploy AnchorRegistry': Number(registry.deployment.gasUsed),
      'deploy ReceiptVerifier': Number(verifier.deployment.gasUsed),
      open: await spent(registry, 'open', 'https://gw.example', testSigner.address),
      'first anchor': await spent(registry, 'anchor', id, leaves, tree.root(leaves), []),
      [`anchor ${leaves} to ${later}, ${consistency.length} hashes`]: await spent(
        registry,
        'anchor',
        ...[id, later, tree.root(later), consistency],
      ),
      [`verify, ${proof.path.length} hashes`]: await running(
        ...([registry, AnchorRegistry, 'verify', place] as const),
      ),
      [`ReceiptVerifier.verify, ${proof.path.length} hashes`]: await running(
        ...([verifier, ReceiptVerifier, 'verify', whole] as const),
      ),
      addSigner: await spent(registry, 'addSigner', id, registry.address, later),
      retireSigner: await spent(registry, 'retireSigner', id, testSigner.address, later),
    }
  } finally {
    await chain.stop()
  }
}

function treeWithFixture(): ReferenceTree {
  const entries = someEntries(later)
  entries[index] = entryOf(0, fromHex(fixture.digest))
  return referenceTree(entries)
}

/** What a transaction costs before anything runs: 21,000, and 4 or 16 for each byte of calldata. */
function intrinsic(calldata: string): number {
  return fromHex(calldata).reduce((sum, byte) => sum + (byte === 0 ? 4 : 16), 21_000)
}
