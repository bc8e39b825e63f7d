/** Checks what a service says it owes, and that it counted an account, from a file alone. */
import { fromHex, type Hex } from '../kernel/hex.ts'
import { isAddress, toChecksumAddress } from './address.ts'
import {
  checkSigner,
  fail,
  type Outcome,
  pass,
  skip,
  type TrustedSigner,
  told,
  unavailable,
} from './checks.ts'
import { structDigest } from './eip712.ts'
import { checkCheckpoint, type LogPlace, leadsToRoot, readLogPlace } from './log-place.ts'
import { leafKinds } from './merkle.ts'
import { isObject, type Problem, readMember, readStruct, refuseOthers, say } from './receipt.ts'
import { recoverSigner } from './signature.ts'
import { dollars } from './slip-lines.ts'
import { mostLevels, sumLeaf, verifySum } from './sum-tree.ts'

/**
 * The debts of a service at one moment, as they are signed. Integers are decimal text, sums are
 * nano-USD.
 */
export type Liabilities = {
  /** Origin of the log that this is a leaf of. */
  issuer: string
  /** 1 for the first one of a service, then one more each time. */
  number: string
  /** Digest of the one before; zero for the first. */
  previous: Hex
  /** Milliseconds. */
  as_of: string
  /** Leaves of the tree, a power of two; many are empty. */
  leaves: string
  root: Hex
  total_nusd: string
  /** Takes the deposits; this and the next three are zero where nothing was read. */
  treasury: string
  token: string
  treasury_nusd: string
  block: string
}

/** How an account was counted; the nonce hides it from all others. */
export type OwnLeaf = {
  account: string
  balance_nusd: string
  nonce: Hex
  index: string
  /** The siblings from the leaf up. */
  path: { hash: Hex; sum_nusd: string }[]
}

/** The file form, version 1; that of an account has `own`. */
export type LiabilitiesFile = {
  type: 'counterfoil.liabilities'
  version: '1'
  statement: Liabilities
  signature: string
  log: LogPlace
  own?: OwnLeaf
}

/** The digest that is signed, and that the leaf of the log holds. */
export const liabilitiesDigest = (statement: Liabilities): Uint8Array =>
  structDigest('Liabilities', statement)

/** Tells whether this is meant as such a file; {@link checkLiabilities} tells what is wrong. */
export const isLiabilitiesFile = (value: unknown): boolean =>
  isObject(value) && value['type'] === 'counterfoil.liabilities'

export const liabilitiesChecks = [
  ...(['schema', 'issuer', 'signature', 'inclusion', 'checkpoint'] as const),
  ...(['age', 'account', 'sum'] as const),
] as const
export type LiabilitiesCheck = { name: (typeof liabilitiesChecks)[number] } & Outcome

/** The knowledge that a reader has from elsewhere. */
export type LiabilitiesTrust = {
  signers?: readonly TrustedSigner[] | undefined
  issuers?: readonly string[] | undefined
  /** The account that must be counted. */
  account?: string | undefined
  /** The earliest time, in milliseconds: an old root proves an old balance. */
  since?: number | undefined
}

/** Judges a file alone; `before` are problems of its text. Never throws. */
export function checkLiabilities(
  value: unknown,
  trust: LiabilitiesTrust,
  before: readonly Problem[] = [],
): LiabilitiesCheck[] {
  const problems = [...before]
  const file = parseLiabilitiesFile(value, problems)
  if (!file || problems.length > 0) {
    const what = problems.map(({ path, message }) => `${told(path)}: ${message}`).join('; ')
    const rest = skip('The file could not be read.')
    return liabilitiesChecks.map((name, i) => ({ name, ...(i === 0 ? fail(what) : rest) }))
  }
  const { signers } = trust
  const outcomes: Record<(typeof liabilitiesChecks)[number], Outcome> = {
    schema: pass('The file is one of version 1.'),
    issuer: checkIssuer(file, trust.issuers),
    signature: checkSigned(file, signers),
    inclusion: checkInclusion(file),
    checkpoint: checkCheckpoint(file.log.checkpoint, file.statement.issuer, signers),
    age: checkAge(file.statement, trust.since),
    account: checkAccount(file.own, trust.account),
    sum: checkSum(file),
  }
  return liabilitiesChecks.map((name) => ({ name, ...outcomes[name] }))
}

const fileMembers = new Set(['type', 'version', 'statement', 'signature', 'log', 'own'])
const ownMembers = new Set(['account', 'balance_nusd', 'nonce', 'index', 'path'])
const stepMembers = new Set(['hash', 'sum_nusd'])

/** Reads a file strictly; undefined with the problems noted. Never throws. */
export function parseLiabilitiesFile(
  value: unknown,
  problems: Problem[],
): LiabilitiesFile | undefined {
  const before = problems.length
  if (!isObject(value)) return say(problems, '', 'not an object')
  if (!isLiabilitiesFile(value)) say(problems, 'type', 'not "counterfoil.liabilities"')
  if (value['version'] !== '1') say(problems, 'version', 'not "1"')
  refuseOthers(value, fileMembers, '', problems)
  readStruct('Liabilities', value['statement'], 'statement', problems)
  readMember('string', value['signature'], 'signature', problems)
  readLogPlace(value['log'], problems)
  if (Object.hasOwn(value, 'own')) readOwn(value['own'], problems)
  if (problems.length > before) return undefined
  const file = value as LiabilitiesFile
  if (levelsOf(file.statement) === undefined) {
    return say(problems, 'statement.leaves', 'not a power of two up to 2^32')
  }
  return file
}

function readOwn(value: unknown, problems: Problem[]): undefined {
  if (!isObject(value)) return say(problems, 'own', 'not an object')
  refuseOthers(value, ownMembers, 'own', problems)
  readMember('address', value['account'], 'own.account', problems)
  readMember('uint64', value['balance_nusd'], 'own.balance_nusd', problems)
  readMember('bytes32', value['nonce'], 'own.nonce', problems)
  readMember('uint64', value['index'], 'own.index', problems)
  const { path } = value
  if (!Array.isArray(path)) return say(problems, 'own.path', 'not a list')
  if (path.length > mostLevels) return say(problems, 'own.path', `more than ${mostLevels} steps`)
  for (const [i, step] of path.entries()) {
    const at = `own.path[${i}]`
    if (!isObject(step)) return say(problems, at, 'not an object')
    refuseOthers(step, stepMembers, at, problems)
    readMember('bytes32', step['hash'], `${at}.hash`, problems)
    readMember('uint64', step['sum_nusd'], `${at}.sum_nusd`, problems)
  }
}

/** How many steps a path has; undefined for a tree of another size. */
function levelsOf({ leaves }: Liabilities): number | undefined {
  const level = BigInt(leaves).toString(2).length - 1
  return level <= mostLevels && BigInt(leaves) === 1n << BigInt(level) ? level : undefined
}

function checkIssuer({ statement }: LiabilitiesFile, trusted: readonly string[] | undefined) {
  const { issuer } = statement
  if (!trusted) return skip('No issuer was named to compare with.')
  if (trusted.includes(issuer)) return pass('The issuer is the expected one.')
  return fail(`Expected the issuer ${trusted.join(' or ')}; found ${told(issuer)}.`)
}

function checkSigned(
  { statement, signature, log }: LiabilitiesFile,
  signers: readonly TrustedSigner[] | undefined,
): Outcome {
  const recovered = recoverSigner(liabilitiesDigest(statement), signature)
  return recovered.ok ? checkSigner(recovered, signers, BigInt(log.index)) : fail(recovered.reason)
}

function checkInclusion({ statement, log }: LiabilitiesFile): Outcome {
  const { index, checkpoint } = log
  const holds = leadsToRoot(log, leafKinds.liabilities, liabilitiesDigest(statement))
  return holds
    ? pass(`It is leaf ${index} of the ${checkpoint.size} under the root of the log.`)
    : fail(`The path does not lead from leaf ${index} to the root of the log.`)
}

function checkAge({ as_of: asOf, number }: Liabilities, since: number | undefined): Outcome {
  const what = `Statement ${number} is of ${timeOf(asOf)}`
  if (since === undefined) return skip(`${what}; no earliest time was named.`)
  return BigInt(asOf) >= BigInt(since)
    ? pass(`${what}.`)
    : fail(`${what}, which is before ${timeOf(String(since))}: ask for a newer one.`)
}

/** RFC 3339, or the milliseconds where they are beyond what a date can be. */
function timeOf(ms: string): string {
  const date = new Date(Number(ms))
  return Number.isNaN(date.getTime()) ? `${ms} ms` : date.toISOString()
}

function checkAccount(own: OwnLeaf | undefined, expected: string | undefined): Outcome {
  if (!own) {
    return expected === undefined
      ? skip('The file is about all accounts together.')
      : fail(`The file does not count ${told(expected)}: it has the total alone.`)
  }
  const account = toChecksumAddress(own.account)
  const what = `It counts ${account} with ${dollars(own.balance_nusd)}`
  if (expected === undefined) return unavailable(`${what}; no account was named to compare with.`)
  return isAddress(expected) && toChecksumAddress(expected) === account
    ? pass(`${what}.`)
    : fail(`Expected the account ${told(expected)}; found ${account}.`)
}

function checkSum({ statement, own }: LiabilitiesFile): Outcome {
  if (!own) return skip('The file has no path from an account to the total.')
  const levels = levelsOf(statement)
  const { path, index } = own
  if (path.length !== levels) {
    return fail(`Expected a path of ${levels} steps; found ${path.length}.`)
  }
  const holds = verifySum({
    index: BigInt(index),
    leaf: sumLeaf(fromHex(own.nonce), fromHex(own.account.toLowerCase()), BigInt(own.balance_nusd)),
    path: path.map(({ hash, sum_nusd: sum }) => ({ hash: fromHex(hash), sum: BigInt(sum) })),
    root: { hash: fromHex(statement.root), sum: BigInt(statement.total_nusd) },
  })
  return holds
    ? pass(`The balance is part of the total of ${dollars(statement.total_nusd)}.`)
    : fail('The path does not add up to the signed root and total: this balance is not in it.')
}
