/** Reads a receipt and its file, strictly, and computes its digest. */
import type { Json } from '../kernel/canonical.ts'
import { type Hex, toHex } from '../kernel/hex.ts'
import { isAddress } from './address.ts'
import type { StructName } from './eip712.ts'
import { digestOfKnown, hashKnown, isStruct, membersOf } from './receipt-structs.ts'

/** A receipt says who ran what, when, for how much, and commits to what went in and came out. */
export type Receipt = {
  id: string
  /** Public origin of who issued it: lower case, no trailing slash. */
  issuer: string
  /** Milliseconds, like every integer here as decimal text: numbers above 2^53 break wallets. */
  issuedAt: string
} & { [Name in SectionName]: Sections[Name] | HiddenSection }

/** A receipt with nothing hidden. */
export type FullReceipt = Omit<Receipt, SectionName> & Sections

export type Sections = {
  /** `account` as lower-case hex or with its EIP-55 checksum: what is signed are its 20 bytes. */
  subject: { account: string; key: string; salt: Hex }
  /** `handle` is '' for none. */
  passport: { handle: string; salt: Hex }
  run: {
    kind: string
    model: string
    route: string
    outcome: string
    startedAt: string
    durationMs: string
    usageSource: string
    salt: Hex
  }
  /** `amount` in nano-USD, `price` in pico-USD a unit, `priceList` is `id@version`. */
  charge: {
    unit: string
    lines: { meter: string; quantity: string; price: string }[]
    discountBps: string
    amount: string
    priceList: string
    salt: Hex
  }
  /** Commitments; 32 zero bytes for none. */
  content: { input: Hex; output: Hex }
}

export type SectionName = keyof Sections

/** A section that is not shown: its EIP-712 hash stands for it. */
export type HiddenSection = { $hash: Hex }

/** Openings of commitments: each has the salt, and the value if it is shown. */
export type Disclosures = { input?: Disclosure; output?: Disclosure }
export type Disclosure = { salt: Hex; value?: Json }

/** The file form, version 1, also the body of `GET /v1/receipts/:id`. */
export type ReceiptFile = {
  type: 'counterfoil.receipt'
  version: '1'
  receipt: Receipt
  digest: string
  signature: string
  disclosures?: Disclosures
  proof?: unknown
  /** The receipt's visibility on its server. Unsigned, and only in the file that its owner gets. */
  visibility?: string
}

export type Problem = { path: string; message: string }

export type ParsedReceiptFile = { ok: true; file: ReceiptFile } | { ok: false; problems: Problem[] }

export const sectionNames = ['subject', 'passport', 'run', 'charge', 'content'] as const

/** Items of a list: enough for any run or quote; keeps the work on a hostile file small. */
const mostItems = { Line: 100, Rate: 128 } as const satisfies Partial<Record<StructName, number>>

export const isHidden = (
  section: Sections[SectionName] | HiddenSection,
): section is HiddenSection => '$hash' in section

/** Hides sections; the digest and so the signature stay good. */
export function redact(receipt: Receipt, hide: readonly SectionName[]): Receipt {
  const out = { ...receipt }
  for (const name of hide) {
    const section = out[name]
    if (isHidden(section)) continue
    const $hash = toHex(hashKnown(structOf[name], section))
    Object.assign(out, { [name]: { $hash } })
  }
  return out
}

/** Whether this is meant as a receipt at all; {@link parseReceiptFile} tells what is wrong. */
export const isReceiptFile = (value: unknown): boolean =>
  isObject(value) && value['type'] === 'counterfoil.receipt' && isObject(value['receipt'])

/** All members of the file form of version 1. A later version may add some. */
const fileMembers = new Set([
  'type',
  'version',
  'receipt',
  'digest',
  'signature',
  'disclosures',
  'proof',
  'visibility',
])

const visibilities: readonly unknown[] = [undefined, 'private', 'unlisted', 'public']

/**
 * Reads a receipt file strictly: an unknown version, an unknown member or a number where text is
 * due is a problem, because another program may show what is not signed. Copies what it knows;
 * never throws.
 */
export function parseReceiptFile(value: unknown): ParsedReceiptFile {
  const problems: Problem[] = []
  if (!isObject(value)) return { ok: false, problems: [{ path: '', message: 'not an object' }] }
  if (value['type'] !== 'counterfoil.receipt') {
    problems.push({ path: 'type', message: 'not "counterfoil.receipt"' })
  }
  if (value['version'] !== '1') problems.push({ path: 'version', message: 'not "1"' })
  const receipt = readStruct('Receipt', value['receipt'], 'receipt', problems)
  const digest = readMember('string', value['digest'], 'digest', problems)
  const signature = readMember('string', value['signature'], 'signature', problems)
  const disclosures = readDisclosures(value['disclosures'], problems)
  refuseOthers(value, fileMembers, '', problems)
  if (!visibilities.includes(value['visibility'])) {
    say(problems, 'visibility', 'not private, unlisted or public')
  }
  if (problems.length > 0) return { ok: false, problems }
  const file = { type: value['type'], version: value['version'], receipt, digest, signature }
  const extra = {
    ...(disclosures && { disclosures }),
    ...(value['proof'] === undefined || value['proof'] === null ? {} : { proof: value['proof'] }),
  }
  return { ok: true, file: { ...file, ...extra } as ReceiptFile }
}

const structOf = {
  subject: 'Subject',
  passport: 'Passport',
  run: 'Run',
  charge: 'Charge',
  content: 'Content',
} as const satisfies Record<SectionName, StructName>

const sectionStructs: ReadonlySet<StructName> = new Set(Object.values(structOf))

/** Reads the members of a struct, no more and no fewer, each of its type. */
export function readStruct(
  name: StructName,
  value: unknown,
  path: string,
  problems: Problem[],
): unknown {
  if (!isObject(value)) return say(problems, path, 'not an object')
  if (sectionStructs.has(name) && Object.hasOwn(value, '$hash')) {
    if (Object.keys(value).length > 1) say(problems, path, 'a hidden section has only $hash')
    return { $hash: readMember('bytes32', value['$hash'], `${path}.$hash`, problems) }
  }
  const out: Record<string, unknown> = {}
  for (const [type, member] of membersOf(name)) {
    const given = Object.hasOwn(value, member) ? value[member] : undefined
    out[member] = readMember(type, given, `${path}.${member}`, problems)
  }
  refuseOthers(value, { has: (member) => Object.hasOwn(out, member) }, path, problems)
  return out
}

/** The value, when it is text of the type; numbers are decimal text. */
export function readMember(
  type: string,
  value: unknown,
  path: string,
  problems: Problem[],
): unknown {
  if (type === 'Line[]') return readItems('Line', value, path, problems)
  if (type === 'Rate[]') return readItems('Rate', value, path, problems)
  if (isStruct(type)) return readStruct(type as StructName, value, path, problems)
  if (value === undefined) return say(problems, path, 'missing')
  if (typeof value !== 'string') return say(problems, path, 'not text')
  const problem = problemOf(type, value)
  return problem ? say(problems, path, problem) : value
}

function readItems(
  name: keyof typeof mostItems,
  value: unknown,
  path: string,
  problems: Problem[],
): unknown {
  if (!Array.isArray(value)) return say(problems, path, 'not a list')
  const most = mostItems[name]
  if (value.length > most) return say(problems, path, `more than ${most} lines`)
  return value.map((item, i) => readStruct(name, item, `${path}[${i}]`, problems))
}

function problemOf(type: string, text: string): string | undefined {
  if (type === 'uint64') return isUint64(text) ? undefined : 'not a decimal integer below 2^64'
  if (type === 'bytes32') {
    return /^0x[0-9a-f]{64}$/.test(text) ? undefined : 'not 32 bytes of lower-case hex'
  }
  if (type === 'address') return isAddress(text) ? undefined : 'not an address'
  return text.isWellFormed() ? undefined : 'a lone surrogate'
}

const isUint64 = (text: string): boolean =>
  /^(?:0|[1-9][0-9]{0,19})$/.test(text) && BigInt(text) < 1n << 64n

/** Reads what opens the commitments, strictly; undefined for none. */
export function readDisclosures(value: unknown, problems: Problem[]): Disclosures | undefined {
  if (value === undefined || value === null) return undefined
  if (!isObject(value)) return say(problems, 'disclosures', 'not an object')
  refuseOthers(value, disclosureMembers, 'disclosures', problems)
  const out: Disclosures = {}
  for (const name of ['input', 'output'] as const) {
    const given = value[name]
    if (given === undefined || given === null) continue
    const path = `disclosures.${name}`
    if (!isObject(given)) {
      say(problems, path, 'not an object')
      continue
    }
    refuseOthers(given, openingMembers, path, problems)
    const salt = readMember('bytes32', given['salt'], `${path}.salt`, problems) as Hex
    out[name] = Object.hasOwn(given, 'value') ? { salt, value: given['value'] as Json } : { salt }
  }
  return out
}

const disclosureMembers = new Set(['input', 'output'])
const openingMembers = new Set(['salt', 'value'])

/** Notes each member of an object that is not among the known ones. `path` is the object's. */
export function refuseOthers(
  value: Record<string, unknown>,
  known: { has: (member: string) => boolean },
  path: string,
  problems: Problem[],
): void {
  for (const member of Object.keys(value)) {
    if (known.has(member)) continue
    say(problems, path === '' ? member : `${path}.${member}`, 'unknown member')
  }
}

/** Notes a problem and gives nothing. */
export function say(problems: Problem[], path: string, message: string): undefined {
  // A hostile file can be wrong in a million places; twenty are enough to mend an honest one.
  if (problems.length < 20) problems.push({ path: path.slice(0, 100), message })
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The digest of a receipt, the same for the full one and for every redaction of it. */
export const receiptDigest = (receipt: Receipt): Uint8Array => digestOfKnown('Receipt', receipt)
