/** Reads a policy file: whom a reader trusts, and which evidence a receipt needs. */
import { isAddress } from './address.ts'
import { judgeBy, type WitnessPolicy } from './check-witnesses.ts'
import type { TrustedSigner } from './checks.ts'
import { evidenceSchemes } from './evidence-schemes.ts'
import { readJsonText } from './json-text.ts'
import { isObject } from './receipt.ts'
import { keyTypes, type NoteKey, parseVkey } from './signed-note.ts'
import type { Trust } from './verify.ts'

/** The trust and the demands of a reader. */
export type Policy = {
  signers?: TrustedSigner[]
  issuers?: string[]
  witnesses?: WitnessPolicy
  /** Keys of upstreams that sign their answers. */
  upstreamKeys?: string[]
  /** Whether the anchor on the chain has to be final. */
  chain: 'auto' | 'skip' | 'require'
}

export type ReadPolicy = { ok: true; policy: Policy } | { ok: false; problems: string[] }

const members = new Set([
  'type',
  'version',
  'signers',
  'issuer',
  'log',
  'witnesses',
  'quorum',
  'upstream_keys',
  'chain',
])

/** The trust of a policy, as the verifier takes it. */
export const trustBy = ({ signers, issuers, witnesses, upstreamKeys }: Policy): Trust => ({
  ...(signers && { signers }),
  ...(issuers && { issuers }),
  ...(witnesses && { witnesses: judgeBy(witnesses) }),
  ...(upstreamKeys && { upstreamKeys }),
})

/** The most witnesses of a policy. */
const maxWitnesses = 32
/** The most keys of a log: the one of now and those before. */
const maxLogKeys = 32

/**
 * Reads a policy strictly: a member that is unknown or stands twice makes it wrong, because a
 * misspelt requirement would be none. `quorum` is all witnesses when absent.
 */
export function readPolicy(text: string): ReadPolicy {
  const read = readJsonText(text)
  if (!read || !isObject(read.value)) return { ok: false, problems: ['it is not a JSON object'] }
  const { value } = read
  const problems = read.repeated.map(({ path }) => `${path} is there twice`)
  for (const name of Object.keys(value)) {
    if (!members.has(name)) problems.push(`${name} is unknown`)
  }
  if (value['type'] !== 'counterfoil.policy') problems.push('type is not "counterfoil.policy"')
  if (value['version'] !== '1') problems.push('version is not "1"')
  const signers = readSigners(value['signers'], problems)
  const issuer = readIssuer(value['issuer'], problems)
  const witnesses = readWitnesses(value, problems)
  const upstreamKeys = readUpstreamKeys(value['upstream_keys'], problems)
  const chain = readChain(value['chain'], problems)
  if (problems.length > 0) return { ok: false, problems }
  return {
    ok: true,
    policy: {
      ...(signers && { signers }),
      ...(issuer !== undefined && { issuers: [issuer] }),
      ...(witnesses && { witnesses }),
      ...(upstreamKeys && { upstreamKeys }),
      chain,
    },
  }
}

/** A signer as `0x…`, `0x…@12-` or `0x…@12-40`, the end exclusive; undefined for other text. */
export function parseSigner(text: string): TrustedSigner | undefined {
  const [, address = '', from, until] = /^([^@]*)(?:@(\d{1,15})-(\d{1,15})?)?$/.exec(text) ?? []
  if (!isAddress(address)) return undefined
  return {
    address,
    ...(from === undefined ? {} : { fromIndex: BigInt(from) }),
    ...(until === undefined ? {} : { untilIndex: BigInt(until) }),
  }
}

/** Whether a text is a key of any scheme by which upstreams sign. */
export const isUpstreamKey = (text: string): boolean =>
  Object.values(evidenceSchemes).some((scheme) => scheme.isKey(text))

function readUpstreamKeys(value: unknown, problems: string[]): string[] | undefined {
  if (value === undefined) return undefined
  const list: unknown[] = Array.isArray(value) ? value : []
  const keys = list.filter((one) => typeof one === 'string' && isUpstreamKey(one))
  if (keys.length > 0 && keys.length === list.length) return keys as string[]
  problems.push('upstream_keys is not a list of keys by which upstreams sign, such as 0x…')
  return undefined
}

function readSigners(value: unknown, problems: string[]): TrustedSigner[] | undefined {
  if (value === undefined) return undefined
  const list = Array.isArray(value) ? value : []
  const signers = list.flatMap((one) => (typeof one === 'string' ? (parseSigner(one) ?? []) : []))
  if (signers.length > 0 && signers.length === list.length) return signers
  problems.push('signers is not a list of addresses, each alone or with @from-until')
  return undefined
}

function readIssuer(value: unknown, problems: string[]): string | undefined {
  if (value === undefined) return undefined
  if (typeof value === 'string' && value !== '') return value
  problems.push('issuer is not an origin')
  return undefined
}

function readChain(value: unknown, problems: string[]): Policy['chain'] {
  if (value === undefined) return 'auto'
  if (value === 'auto' || value === 'skip' || value === 'require') return value
  problems.push('chain is not "auto", "skip" or "require"')
  return 'auto'
}

function readWitnesses(
  { witnesses, quorum, log }: Record<string, unknown>,
  problems: string[],
): WitnessPolicy | undefined {
  if (witnesses === undefined && quorum === undefined && log === undefined) return undefined
  const list = Array.isArray(witnesses) ? witnesses : []
  if (list.length === 0 || list.length > maxWitnesses) {
    problems.push(`witnesses is not a list of 1 to ${maxWitnesses}`)
  }
  const trusted = list.map((one, i) => readWitness(one, `witnesses[${i}]`, problems))
  const keys = trusted.flatMap((one) => (one ? [String(one.key.publicKey)] : []))
  // One key under two names would make a quorum by itself.
  if (new Set(keys).size < keys.length) problems.push('witnesses names a key twice')
  const least = quorum === undefined ? list.length : quorum
  if (!Number.isInteger(least) || Number(least) < 1 || Number(least) > list.length) {
    problems.push('quorum is not a number from 1 to that of the witnesses')
  }
  const own = readLogKeys(log, problems)
  return {
    witnesses: trusted.flatMap((one) => one ?? []),
    quorum: Number(least),
    ...(own && { log: own }),
  }
}

function readWitness(one: unknown, where: string, problems: string[]) {
  const { name, key, ...others } = isObject(one) ? one : {}
  const found = typeof key === 'string' ? parseVkey(key) : undefined
  const isNamed = typeof name === 'string' && name !== ''
  if (isNamed && found?.type === keyTypes.cosignature && Object.keys(others).length === 0) {
    return { name, key: found }
  }
  problems.push(`${where} is not {name, key}, the key a cosignature key as name+id+base64`)
  return undefined
}

/** A key of the log, or several of them: a rotation gives it another. */
function readLogKeys(value: unknown, problems: string[]): NoteKey[] | undefined {
  if (value === undefined) return undefined
  const list = Array.isArray(value) ? value : [value]
  const keys = list.flatMap((one) => (typeof one === 'string' ? (parseVkey(one) ?? []) : []))
  const isRead = keys.length === list.length && keys.every(({ type }) => type === keyTypes.ed25519)
  if (isRead && keys.length > 0 && keys.length <= maxLogKeys) return keys
  problems.push('log is not an Ed25519 key as name+id+base64, or a list of such keys')
  return undefined
}
