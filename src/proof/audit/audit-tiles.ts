/** The audit of a log from its files alone: checkpoint, cosignatures, tiles, and what is known. */
import { type Hex, toHex } from '../../kernel/hex.ts'
import { registryLogId } from '../../verify/check-anchor.ts'
import { judgeNote, type WitnessPolicy } from '../../verify/check-witnesses.ts'
import { parseHead } from '../../verify/checkpoint-note.ts'
import { fail, type Outcome, pass, skip, told, unavailable } from '../../verify/checks.ts'
import { isEqualBytes, leafKinds } from '../../verify/merkle.ts'
import { type ReadFile, readTiles, TileFault } from '../../verify/read-tiles.ts'
import { type Note, type NoteKey, parseNote, verifyNote } from '../../verify/signed-note.ts'
import type { Trust } from '../../verify/verify.ts'
import { readHead, readRoot } from '../anchors/registry.ts'
import { WrongAnswer } from './answers.ts'
import type { OnChain } from './check-chain.ts'
import { continues } from './check-log.ts'
import { liabilitiesLeaves } from './liabilities-leaves.ts'
import { type Paper, readPapers } from './papers.ts'
import { count, type KnownHead, type Service } from './service-view.ts'

/** In report order. */
export const tileChecks = [
  'note',
  'cosignatures',
  'tiles',
  'heads',
  'chain_head',
  'receipts',
  'quotes',
  'owed_leaves',
] as const

export type TileCheckName = (typeof tileChecks)[number]

export type TileAudit = {
  /** A file of the log below its prefix. @throws ServiceTrouble */
  read: ReadFile
  /** Note keys of the log; `whose` says who named them. */
  keys: { list: readonly NoteKey[]; whose: string }
  witnesses?: WitnessPolicy
  /** Roots that the log has to have at their sizes. */
  heads: readonly KnownHead[]
  /** Proves that the tiles begin a log with a larger head. */
  service?: Service
  /** The origin that the log has to have. */
  origin?: string
  /** The registry, and the owner of the log there. */
  chain?: OnChain & { owner: string }
  papers: readonly Paper[]
  trust: Trust
}

export type TileVerdict = {
  /** The log's head in its signed note; null without one. */
  head: { origin: string; size: number } | null
  outcomes: Record<TileCheckName, Outcome>
}

/** Turns what a check throws into its outcome. */
export type Attempt = (check: () => Promise<Outcome>) => Promise<Outcome>

type SignedHead = { origin: string; size: number; root: Uint8Array; note: Note }

/** Reads every file of a log. Failures go into the outcomes, not into errors. */
export async function auditTiles(audit: TileAudit, attempt: Attempt): Promise<TileVerdict> {
  const rest = skip('The checkpoint of the log could not be read.')
  const all = (outcome: Outcome): Record<TileCheckName, Outcome> => ({
    ...{ cosignatures: rest, tiles: rest, heads: rest, chain_head: rest, receipts: rest },
    ...{ quotes: rest, owed_leaves: rest, note: outcome },
  })
  const read: { head?: SignedHead } = {}
  const note = await attempt(async () => {
    read.head = await readNote(audit)
    return judgeKeys(audit, read.head)
  })
  const { head } = read
  if (!head) return { head: null, outcomes: all(note) }
  const onChain: { head?: KnownHead } = {}
  const chained = await attempt(async () => {
    const found = await chainHead(audit, head.origin)
    if ('status' in found) return found
    onChain.head = found
    return pass(`The tiles have the root of ${found.what}, at ${found.size} leaves.`)
  })
  const papers = readPapers(audit.papers, audit.trust)
  const known = [...audit.heads, ...papers.heads]
  const statements = liabilitiesLeaves()
  const seeEntry: EntryVisitor = (index, bytes) => {
    papers.seeEntry(index, bytes)
    statements.seeEntry(index, bytes)
  }
  const roots = await readRoots(audit, head, [...known, ...toList(onChain.head)], seeEntry, attempt)
  const compare = (heads: readonly KnownHead[], done: Outcome) =>
    attempt(() => compareHeads(audit, head, roots.at, heads, done))
  const isRead = roots.outcome.status === 'pass'
  const unread = skip('The tiles could not be read.')
  const same = pass(`${count(known.length, 'known head')}: each is the root of its tiles.`)
  return {
    head: { origin: head.origin, size: head.size },
    outcomes: {
      note,
      cosignatures: checkCosignatures(audit, head),
      tiles: roots.outcome,
      heads: isRead ? await compare(known, known.length > 0 ? same : noHeads) : unread,
      chain_head: onChain.head && isRead ? await compare([onChain.head], chained) : chained,
      receipts: isRead ? papers.checkReceipts(head) : unread,
      quotes: papers.checkQuotes(),
      owed_leaves: isRead
        ? await attempt(() => statements.check(audit.service, head.origin))
        : unread,
    },
  }
}

const noHeads = skip('No head of this log is known from elsewhere: --base or --papers tell some.')
const toList = <T>(one: T | undefined): T[] => (one === undefined ? [] : [one])

/** @throws WrongAnswer */
async function readNote({ read, origin }: TileAudit): Promise<SignedHead> {
  const bytes = await read('checkpoint')
  if (!bytes) {
    const what = 'Name the folder or address that has the file checkpoint, below it tile/'
    throw new WrongAnswer(`checkpoint: it is not there. ${what}.`)
  }
  const note = parseNote(new TextDecoder().decode(bytes))
  const head = note && parseHead(note.text)
  if (!note || !head || head.size > BigInt(Number.MAX_SAFE_INTEGER)) {
    throw new WrongAnswer('checkpoint: it is not a signed note with origin, size and root.')
  }
  if (origin !== undefined && head.origin !== origin) {
    throw new WrongAnswer(`checkpoint: it is of ${told(head.origin)}, not of ${told(origin)}.`)
  }
  return { origin: head.origin, size: Number(head.size), root: head.root, note }
}

/** The note is signed by a key of the log, and no line of a known key is broken. */
function judgeKeys({ keys, witnesses }: TileAudit, { note, origin }: SignedHead): Outcome {
  const list = witnesses?.log ?? keys.list
  if (list.length === 0) {
    const what = 'name note_key of GET /v1/signer with --log-key, or as log of a --policy'
    return unavailable(`checkpoint: no key of the log is known: ${what}.`)
  }
  const { signed, broken } = verifyNote(note, list)
  const [wrong] = broken
  if (wrong) return fail(`checkpoint: the signature of ${told(wrong.name)} does not hold.`)
  const own = signed.find(({ key }) => key.name === origin)
  if (!own) {
    const found = note.lines.map(({ name }) => told(name)).join(', ')
    return fail(`checkpoint: no known key of ${told(origin)} signed it; its lines are of ${found}.`)
  }
  const whose = witnesses?.log ? 'the policy' : keys.whose
  return pass(`The checkpoint is signed by the key of the log that ${whose} names.`)
}

function checkCosignatures({ witnesses }: TileAudit, { note, size }: SignedHead): Outcome {
  if (!witnesses) return skip('No witnesses were named: --policy names them and their quorum.')
  const { log: _, ...policy } = witnesses
  return judgeNote(policy, note, BigInt(size)).outcome
}

/** The newest head of the log in the auditor's registry. @throws what the chain throws */
async function chainHead({ chain }: TileAudit, origin: string): Promise<KnownHead | Outcome> {
  if (!chain) return skip('The chain was not checked: add --rpc, --registry and --owner.')
  const id = registryLogId(chain.registry, chain.owner, origin)
  const { size } = await readHead(chain.chain, chain.registry, id)
  if (size === 0) return unavailable(`The registry ${chain.registry} has no head of this log.`)
  const root = await readRoot(chain.chain, chain.registry, { id, size: BigInt(size) })
  if (!root) return unavailable(`The registry ${chain.registry} does not tell its root at ${size}.`)
  return { what: `the newest head in the registry ${chain.registry}`, size, root }
}

type EntryVisitor = (index: number, bytes: Uint8Array) => void

type Roots = { outcome: Outcome; at: ReadonlyMap<number, Hex> }

/** Reads all tiles, and the roots at the sizes of known heads on the way. */
async function readRoots(
  { read }: TileAudit,
  { size, root }: SignedHead,
  heads: readonly KnownHead[],
  seeEntry: EntryVisitor,
  attempt: Attempt,
): Promise<Roots> {
  const at = new Map<number, Hex>()
  let signed = 0
  const outcome = await attempt(async () => {
    const visit = {
      entry: (index: number, bytes: Uint8Array) => {
        if (bytes[0] === leafKinds.upstreamEvidence) signed++
        seeEntry(index, bytes)
      },
      sizes: new Set(heads.map((head) => head.size)),
      root: (n: number, found: Uint8Array) => void at.set(n, toHex(found)),
    }
    const found = await readTiles(size, read, visit).catch((error: unknown) => {
      if (error instanceof TileFault) return error
      throw error
    })
    if (found instanceof TileFault) {
      const what = 'Get it again; if it stays like this, keep it with the checkpoint as evidence.'
      return fail(`${found.message} ${what}`)
    }
    if (!isEqualBytes(found, root)) {
      const why = 'the tiles agree with each other, but their root is'
      const what = 'Get them again; if it stays like this, keep them with the checkpoint.'
      return fail(`checkpoint: ${why} ${toHex(found)}, not ${toHex(root)}. ${what}`)
    }
    const some = signed === 0 ? '' : ` (${signed} of evidence of upstreams)`
    const what = `${size} entries${some}, and every hash above them`
    return pass(`${what} up to the root of the checkpoint.`)
  })
  at.set(size, toHex(root))
  return { outcome, at }
}

/** The tiles have the root of each head; a larger one continues them, as the service proves. */
async function compareHeads(
  { service }: TileAudit,
  { size, root }: SignedHead,
  roots: ReadonlyMap<number, Hex>,
  heads: readonly KnownHead[],
  done: Outcome,
): Promise<Outcome> {
  for (const { what, size: at, root: expected } of heads) {
    if (at <= size) {
      if (roots.get(at) === expected) continue
      const why = `The tiles have another root at ${at} leaves than ${what}: the log has two`
      return fail(`${why} histories. Keep both as evidence.`)
    }
    if (size === 0) continue
    const later = `${what} has ${at} leaves, the tiles ${size}`
    if (!service) return unavailable(`${later}: get newer tiles, and audit again.`)
    const own = { size, root: toHex(root) }
    if (await continues(service, own, { size: at, root: expected })) continue
    return fail(`${later}, and the one does not continue the other. Keep both as evidence.`)
  }
  return done
}
