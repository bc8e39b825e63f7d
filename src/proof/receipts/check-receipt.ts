/** Checks a receipt against this server's signers and store. */
import type { Deps } from '../../app/deps-port.ts'
import { toRfc3339 } from '../../kernel/clock.ts'
import { toHex } from '../../kernel/hex.ts'
import { isId } from '../../kernel/ids.ts'
import { refuse } from '../../kernel/refusal.ts'
import { elsewhereById, elsewhereByShard, refuseElsewhere } from '../../kernel/shard.ts'
import { judgeBy } from '../../verify/check-witnesses.ts'
import type { TrustedSigner } from '../../verify/checks.ts'
import { readVerifyRequest } from '../../verify/input.ts'
import { repeatedMembers } from '../../verify/json-text.ts'
import { evidenceCheck } from '../../verify/upstream-evidence.ts'
import type { Trust, Verdict, VerifyOptions } from '../../verify/verify.ts'
import { indexIn } from '../log/logs.ts'
import { sharedEvidence } from '../upstream-evidence/known-evidence.ts'
import { verifyWithChain } from './evidence.ts'
import { type Ended, runIdOf } from './receipt.ts'
import { sharedFileOf } from './receipt-file.ts'

/** Most bytes of a request to verify: a receipt with its texts. */
export const verifyBodyBytes = 1024 * 1024

/**
 * Judges a receipt against this server's signer and store. `text` is what the body was read from;
 * none for one that this server made.
 * @throws Refusal `unprocessable` for a file that is not a receipt, `receipt_not_found` for an
 * unknown or private id, `misdirected_request` for a receipt of another shard.
 */
export async function checkReceipt(
  deps: Deps,
  body: unknown,
  text?: string,
): Promise<Verdict & { source: 'given' | 'stored' }> {
  const read = readVerifyRequest(body, text === undefined ? [] : repeatedMembers(text))
  if (!read.ok) {
    refuse('unprocessable', {
      message: 'This is not a receipt file. Send the file itself, {"receipt": <file>} or {"id"}.',
      metadata: { problems: read.problems },
    })
  }
  const { request } = read
  const verifiedAt = toRfc3339(deps.clock.now())
  const options = { chain: request.chain, verifiedAt }
  if ('id' in request) return checkShared(deps, request.id, options)
  const trust = {
    ...(await trustIn(deps, request.file)),
    ...(request.attested && (await upstreamTrust(deps, request.file))),
  }
  const verdict = await verifyWithChain(request, trust, options, deps.askChain)
  return { ...verdict, source: 'given' }
}

/** A receipt of ours that its owner shares, checked as everybody sees it. */
async function checkShared(
  deps: Deps,
  id: string,
  options: VerifyOptions,
): Promise<Verdict & { source: 'stored' }> {
  const share = isId('rcpt', id) ? await deps.shares.find(id) : undefined
  const stored = share && (await deps.receipts.find(id))
  if (!share || !stored) {
    const other = elsewhereById(deps.shard, id)
    return other === undefined ? refuse('receipt_not_found') : refuseElsewhere(other)
  }
  const file = await sharedFileOf(deps, stored, share)
  const trust = { ...trustOf(deps, stored, file), ...(await upstreamTrust(deps, file)) }
  const known = await sharedEvidence(deps, stored, share)
  const attested = known?.file && evidenceCheck(known.file)
  const verdict = await verifyWithChain({ file, attested }, trust, options, deps.askChain)
  return { ...verdict, source: 'stored' }
}

/** Unchecked members of a file. They choose what to look up and prove nothing. */
type Claims = { digest?: unknown; receipt?: { id?: unknown; issuer?: unknown } }

/**
 * The other shard whose log a file names: only that one knows its signers. A reopened log has the
 * origin of the first and a number.
 */
function issuedElsewhere(
  { shard, logs }: Pick<Deps, 'shard' | 'logs'>,
  file: unknown,
): string | undefined {
  const issuer = (file as Claims).receipt?.issuer
  const [base, id = ''] = typeof issuer === 'string' ? issuer.split('#', 2) : []
  return base === logs.current.origin.split('#', 1)[0] ? elsewhereByShard(shard, id) : undefined
}

/** The receipt in our store that a file says it is. */
function findNamed(deps: Pick<Deps, 'receipts'>, file: unknown): Promise<Ended | undefined> {
  const id = (file as Claims).receipt?.id
  if (typeof id !== 'string' || !isId('rcpt', id)) return Promise.resolve(undefined)
  return deps.receipts.find(id)
}

/**
 * The signers trusted for a file from a reader, and whether this server issued it.
 * @throws Refusal `misdirected_request` for a receipt of another shard
 */
export async function trustIn(
  deps: Pick<Deps, 'receipts' | 'signers' | 'logs' | 'shard' | 'witnesses'>,
  file: unknown,
): Promise<Trust> {
  const other = issuedElsewhere(deps, file)
  if (other !== undefined) refuseElsewhere(other)
  return trustOf(deps, await findNamed(deps, file), file)
}

/** We trust our own signers, each in its range of its log, and know what we issued. */
export function trustOf(
  { signers, logs, witnesses }: Pick<Deps, 'signers' | 'logs' | 'witnesses'>,
  stored: Ended | undefined,
  file: unknown,
): Trust {
  const { digest: claimed, receipt } = file as Claims
  const issuer = receipt?.issuer
  // Any other value is refused here: turning a list into text would walk all of it.
  const log = (typeof issuer === 'string' ? logs.of(issuer) : undefined) ?? logs.current
  const base = {
    signers: signersOf({ signers }, log.origin),
    issuers: logs.all.map(({ origin }) => origin),
    ...(witnesses.list.length > 0 && { witnesses: judgeOurs(witnesses) }),
  }
  if (!stored) {
    return { ...base, known: { status: 'fail', reason: 'This server issued no such receipt.' } }
  }
  const place = indexIn(logs, stored)
  const index = place === null ? {} : { index: BigInt(place) }
  if (claimed !== toHex(stored.digest)) {
    const reason = 'This server issued a receipt with this id, but with another digest.'
    return { ...base, known: { status: 'fail', reason, ...index } }
  }
  return { ...base, known: { status: 'pass', reason: 'This server issued it.', ...index } }
}

/** The keys of the configuration by which upstreams sign. */
export const upstreamKeysOf = ({ upstreams }: Pick<Deps, 'upstreams'>): string[] =>
  upstreams.list().flatMap(({ evidence }) => evidence?.keys ?? [])

/**
 * The keys of upstreams that this server trusts: those of the configuration, and the one that
 * signed the run of a receipt of ours when that was checked.
 */
export async function upstreamTrust(
  deps: Pick<Deps, 'upstreams' | 'upstreamEvidence'>,
  file: unknown,
): Promise<Pick<Trust, 'upstreamKeys'>> {
  const id = (file as Claims).receipt?.id
  const isOurs = typeof id === 'string' && isId('rcpt', id)
  const row = isOurs ? await deps.upstreamEvidence.find(runIdOf(id)) : undefined
  const keys = upstreamKeysOf(deps)
  const all = row?.key ? [...keys, row.key] : keys
  return all.length > 0 ? { upstreamKeys: all } : {}
}

/** Our witnesses, told of as far as they signed; a reader says how many are enough. */
const judgeOurs = ({ list }: Deps['witnesses']) =>
  judgeBy({ witnesses: list.map(({ name, noteKey: key }) => ({ name, key })), quorum: 0 })

/** Our own signers of a log, each with the part of it that it may sign. */
export const signersOf = ({ signers }: Pick<Deps, 'signers'>, origin: string): TrustedSigner[] =>
  signers.of(origin).map(({ address, fromIndex, untilIndex }) => ({
    address,
    fromIndex: BigInt(fromIndex),
    ...(untilIndex === null ? {} : { untilIndex: BigInt(untilIndex) }),
  }))
