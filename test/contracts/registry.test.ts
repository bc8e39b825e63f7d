import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Address, encodeAbiParameters, type Hex, keccak256, toHex } from 'viem'
import committed from '../../contracts/AnchorRegistry.json'
import { noAnvil } from './anvil.ts'
import { type Chain, type Contract, openChain } from './chain.ts'
import { type ReferenceTree, referenceTree, someEntries } from './reference-tree.ts'

const zero: Hex = `0x${'0'.repeat(64)}`
const zeroAddress: Address = `0x${'0'.repeat(40)}`
const tree = referenceTree(someEntries(40))
/** The same first 12 leaves, then others. */
const forked = referenceTree([...someEntries(12), ...someEntries(40).slice(12).reverse()])

describe.skipIf(noAnvil)('AnchorRegistry on a chain with id 4663', () => {
  let chain: Chain
  let registry: Contract
  let [owner, stranger, signer, other]: Address[] = []
  let logs = 0
  beforeAll(async () => {
    chain = await openChain()
    registry = await chain.deploy(committed)
    ;[owner, stranger, signer, other] = chain.accounts
  }, 30_000)
  afterAll(() => chain?.stop())

  /** A log of its own for one test, opened by the owner. */
  async function openLog(): Promise<Hex> {
    const origin = `https://gw${++logs}.example`
    await registry.send(owner as Address, 'open', origin, signer)
    return (await registry.read('logIdOf', owner, origin)) as Hex
  }
  const anchor = (id: Hex, size: number, consistency: Hex[], of: ReferenceTree = tree) =>
    registry.send(owner as Address, 'anchor', id, size, of.root(size), consistency)
  const refused = (...call: [name: string, ...args: unknown[]]) =>
    registry.refusal(owner as Address, ...call)
  const refusedTo = (who: Address | undefined, ...call: [name: string, ...args: unknown[]]) =>
    registry.refusal(who as Address, ...call)

  describe('open', () => {
    test("a log's id is that of chain, registry, owner and origin, and it starts empty", async () => {
      const id = await openLog()
      const origin = keccak256(toHex(`https://gw${logs}.example`))
      const types = ['uint256', 'address', 'address', 'bytes32'].map((type) => ({ type }))
      const parts = [4663n, registry.address, owner, origin]
      expect(id).toBe(keccak256(encodeAbiParameters(types, parts)))
      expect(await registry.read('head', id)).toEqual([0n, zero, 0])
      expect(await registry.read('logs', id)).toEqual([owner, 0n, 0])
    })

    test('an origin is opened once by an owner, and no one can take it from another', async () => {
      await openLog()
      const origin = `https://gw${logs}.example`
      expect(await refused('open', origin, signer)).toEqual(['LogExists'])
      await registry.send(stranger as Address, 'open', origin, other)
      const ids = [owner, stranger].map((who) => registry.read('logIdOf', who, origin))
      expect(new Set(await Promise.all(ids)).size).toBe(2)
    })

    test('a log without a signer is refused', async () => {
      expect(await refused('open', 'https://none.example', zeroAddress)).toEqual(['ZeroValue'])
    })
  })

  describe('anchor', () => {
    test('grows through any sizes, and every anchored size stays readable', async () => {
      const id = await openLog()
      const sizes = [1, 2, 3, 7, 8, 12, 31, 32, 33, 40]
      await sizes.reduce(async (before: Promise<number>, size) => {
        const from = await before
        await anchor(id, size, from === 0 ? [] : tree.consistency(from, size))
        return size
      }, Promise.resolve(0))
      const roots = Array.from({ length: 42 }, (_, size) => registry.read('rootAt', id, size))
      const expected = (size: number) => (sizes.includes(size) ? tree.root(size) : zero)
      expect(await Promise.all(roots)).toEqual(roots.map((_, size) => expected(size)))
      expect(await registry.read('head', id)).toEqual([40n, tree.root(40), sizes.length])
    })

    test('NotLarger: the same size, a smaller one, none', async () => {
      const id = await openLog()
      expect(await refused('anchor', id, 0, tree.root(1), [])).toEqual(['NotLarger', 0n])
      await anchor(id, 12, [])
      for (const size of [12, 11, 1, 0]) {
        expect(await refused('anchor', id, size, tree.root(12), [])).toEqual(['NotLarger', 12n])
      }
    })

    test('A rewritten log is Inconsistent under every proof.', async () => {
      const id = await openLog()
      await anchor(id, 20, [])
      for (const proof of [forked.consistency(20, 40), tree.consistency(20, 40), []]) {
        expect(await refused('anchor', id, 40, forked.root(40), proof)).toEqual(['Inconsistent'])
      }
      // Up to 12 leaves they are the same log, and either way forward is open.
      const young = await openLog()
      await anchor(young, 12, [])
      await anchor(young, 40, forked.consistency(12, 40), forked)
    })

    test('Inconsistent: any byte of the proof changed, cut, added, or for other sizes', async () => {
      const id = await openLog()
      await anchor(id, 21, [])
      const right = tree.consistency(21, 40)
      const flipped = right.map((_, i) => right.map((hash, j) => (i === j ? flip(hash) : hash)))
      const others = [tree.consistency(20, 40), tree.consistency(21, 39)]
      const proofs = [...flipped, ...others, right.slice(1), right.slice(0, -1), [...right, zero]]
      for (const proof of proofs) {
        expect(await refused('anchor', id, 40, tree.root(40), proof)).toEqual(['Inconsistent'])
      }
      // A root does not tell its size, only the shape along the path does.
      for (const size of [22, 32, 65]) {
        expect(await refused('anchor', id, size, tree.root(40), right)).toEqual(['Inconsistent'])
      }
      expect(await refused('anchor', id, 40, flip(tree.root(40)), right)).toEqual(['Inconsistent'])
      await anchor(id, 40, right)
    })

    test('the first anchor has nothing to prove, and a root of zeros is none', async () => {
      const id = await openLog()
      const proof = tree.consistency(8, 12)
      expect(await refused('anchor', id, 12, tree.root(12), proof)).toEqual(['Inconsistent'])
      expect(await refused('anchor', id, 12, zero, [])).toEqual(['ZeroValue'])
    })

    test('an anchor tells of itself what an outsider needs', async () => {
      const id = await openLog()
      await anchor(id, 3, [])
      const { logs: events } = await anchor(id, 8, tree.consistency(3, 8))
      const topics = [keccak256(toHex('Anchored(bytes32,uint64,bytes32,uint64,uint32)')), id]
      expect(events.map((event) => event.topics.slice(0, 2))).toEqual([topics])
      expect(events[0]?.topics[2]).toBe(toHex(8, { size: 32 }))
      expect(events[0]?.data).toBe(
        encodeAbiParameters(
          ['bytes32', 'uint64', 'uint32'].map((type) => ({ type })),
          [tree.root(8), 3n, 2],
        ),
      )
    })
  })

  describe('verify', () => {
    test('a leaf at its index under an anchored size, and nothing else', async () => {
      const id = await openLog()
      await anchor(id, 13, [])
      await anchor(id, 40, tree.consistency(13, 40))
      const [leaf, path] = [tree.leaf(5), tree.inclusion(5, 13)]
      const holds = (size: number, index: number, hash: Hex, proof: Hex[]) =>
        registry.read('verify', id, size, index, hash, proof)
      expect(await holds(13, 5, leaf, path)).toBe(true)
      expect(await holds(40, 5, leaf, tree.inclusion(5, 40))).toBe(true)
      // A true path to a size that no one anchored, and one size's path under another.
      expect(await holds(20, 5, leaf, tree.inclusion(5, 20))).toBe(false)
      expect(await holds(40, 5, leaf, path)).toBe(false)
      for (const index of [0, 4, 6, 7, 13, 37]) {
        expect(await holds(13, index, leaf, path)).toBe(false)
      }
      expect(await holds(13, 5, flip(leaf), path)).toBe(false)
      expect(await holds(13, 5, leaf, path.slice(0, -1))).toBe(false)
      expect(await holds(13, 5, leaf, path.slice(1))).toBe(false)
      expect(await holds(13, 5, leaf, [...path, zero])).toBe(false)
      for (let i = 0; i < path.length; i++) {
        const changed = path.map((hash, j) => (i === j ? flip(hash) : hash))
        expect(await holds(13, 5, leaf, changed)).toBe(false)
      }
    })

    test('a node cannot pass for a leaf, at any index', async () => {
      const id = await openLog()
      await anchor(id, 8, [])
      const [sibling = zero, ...above] = tree.inclusion(4, 8)
      const node = hashNode(tree.leaf(4), sibling)
      for (const path of [above, [zero, ...above], [sibling, ...above]]) {
        for (let index = 0; index < 8; index++) {
          expect(await registry.read('verify', id, 8, index, node, path)).toBe(false)
        }
      }
      expect(await registry.read('verify', id, 8, 0, tree.root(8), [])).toBe(false)
    })

    test('an unknown log and a log without anchors hold nothing', async () => {
      const id = await openLog()
      // A leaf of zeros alone would have the root that stands for none.
      expect(await registry.read('verify', id, 1, 0, zero, [])).toBe(false)
      expect(await registry.read('verify', id, 0, 0, zero, [])).toBe(false)
      expect(await registry.read('verify', id, 1, 0, tree.leaf(0), [])).toBe(false)
      expect(await registry.read('verify', zero, 1, 0, tree.leaf(0), [])).toBe(false)
    })
  })

  describe('signers', () => {
    const last = 2n ** 64n - 1n
    const signs = (id: Hex, who: Address | undefined, ...indices: (bigint | number)[]) =>
      Promise.all(indices.map((index) => registry.read('isSigner', id, who, index)))

    test('the first signs from leaf 0, a later one from its index, a stranger never', async () => {
      const id = await openLog()
      await registry.send(owner as Address, 'addSigner', id, other, 10)
      expect(await signs(id, signer, 0, 10, last - 1n)).toEqual([true, true, true])
      expect(await signs(id, other, 0, 9, 10, 11)).toEqual([false, false, true, true])
      expect(await signs(id, stranger, 0, 10, last)).toEqual([false, false, false])
    })

    test('a retired one signs up to its end, which only moves forward in time', async () => {
      const id = await openLog()
      await registry.send(owner as Address, 'retireSigner', id, signer, 10)
      expect(await signs(id, signer, 0, 9, 10, 11)).toEqual([true, true, false, false])
      for (const until of [10, 11, last]) {
        expect(await refused('retireSigner', id, signer, until)).toEqual(['NotEarlier', 10n])
      }
      await registry.send(owner as Address, 'retireSigner', id, signer, 5)
      expect(await signs(id, signer, 4, 5)).toEqual([true, false])
      await registry.send(owner as Address, 'retireSigner', id, signer, 0)
      expect(await signs(id, signer, 0, 4)).toEqual([false, false])
      expect(await refused('addSigner', id, signer, 0)).toEqual(['SignerExists'])
      expect(await registry.read('signers', id, signer)).toEqual([0n, 0n, true])
    })

    test('a key is added once, and only a key that was added can retire', async () => {
      const id = await openLog()
      expect(await refused('addSigner', id, signer, 3)).toEqual(['SignerExists'])
      expect(await refused('addSigner', id, zeroAddress, 3)).toEqual(['ZeroValue'])
      expect(await refused('retireSigner', id, other, 3)).toEqual(['NoSuchSigner'])
    })

    test('A signer of one log may not sign for another.', async () => {
      const [id, second] = [await openLog(), await openLog()]
      await registry.send(owner as Address, 'addSigner', id, other, 0)
      expect(await signs(second, other, 0)).toEqual([false])
    })
  })

  describe('owner', () => {
    test('NotOwner: everybody else, for every change', async () => {
      const id = await openLog()
      for (const who of [stranger, signer]) {
        for (const target of [id, zero]) {
          const anchored = ['anchor', target, 1, tree.root(1), []] as const
          expect(await refusedTo(who, ...anchored)).toEqual(['NotOwner'])
          expect(await refusedTo(who, 'addSigner', target, who, 0)).toEqual(['NotOwner'])
          expect(await refusedTo(who, 'retireSigner', target, signer, 0)).toEqual(['NotOwner'])
          expect(await refusedTo(who, 'setOwner', target, who)).toEqual(['NotOwner'])
        }
      }
    })

    test('a log handed over obeys the new owner only, and keeps its id and anchors', async () => {
      const id = await openLog()
      await anchor(id, 3, [])
      expect(await refused('setOwner', id, zeroAddress)).toEqual(['ZeroValue'])
      await registry.send(owner as Address, 'setOwner', id, stranger)
      const next = ['anchor', id, 8, tree.root(8), tree.consistency(3, 8)] as const
      expect(await refused(...next)).toEqual(['NotOwner'])
      await registry.send(stranger as Address, ...next)
      expect(await registry.read('head', id)).toEqual([8n, tree.root(8), 2])
    })
  })
})

test.skipIf(noAnvil)(
  'runs on a Paris EVM: chains without later opcodes can hold it',
  async () => {
    const chain = await openChain('--hardfork', 'paris')
    try {
      const registry = await chain.deploy(committed)
      const [owner = zeroAddress] = chain.accounts
      const id = await registry.read('logIdOf', owner, 'https://gw.example')
      await registry.send(owner, 'open', 'https://gw.example', owner)
      await registry.send(owner, 'anchor', id, 12, tree.root(12), [])
      await registry.send(owner, 'anchor', id, 40, tree.root(40), tree.consistency(12, 40))
      const proof = tree.inclusion(7, 40)
      expect(await registry.read('verify', id, 40, 7, tree.leaf(7), proof)).toBe(true)
    } finally {
      await chain.stop()
    }
  },
  30_000,
)

/** The same with its last bit changed. */
const flip = (hash: Hex): Hex => toHex(BigInt(hash) ^ 1n, { size: 32 })

function hashNode(left: Hex, right: Hex): Hex {
  const bytes = Buffer.from(`01${left.slice(2)}${right.slice(2)}`, 'hex')
  return `0x${new Bun.CryptoHasher('sha256').update(bytes).digest('hex')}`
}
