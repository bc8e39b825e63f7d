/** Checks an export of usage against its signed manifest. */
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import { toHex } from '../kernel/hex.ts'
import { checkSigner, fail, type Outcome, pass, skip, type TrustedSigner } from './checks.ts'
import { readCsv } from './csv-records.ts'
import { structDigest } from './eip712.ts'
import { readJsonText } from './json-text.ts'
import { type Checkpoint, parseCheckpoint } from './proof.ts'
import { isObject, type Problem, readMember, refuseOthers, say } from './receipt.ts'
import { recoverSigner } from './signature.ts'

/**
 * The signed facts of an export: `rows` of data, their cost, how many leaves of the log it
 * goes up to, and the SHA-256 of its bytes in hex. `checkpoint` is the first signed head over these
 * leaves, null where there is none.
 */
export type ExportManifest = {
  type: 'counterfoil.manifest'
  rows: number
  /** Nano-USD; text beyond what JSON keeps exact. */
  sum_nusd: number | string
  as_of: number
  sha256: string
  checkpoint: Checkpoint | null
  signature: string
}

type SignedFields = Omit<ExportManifest, 'type' | 'signature'>

/** Returns the digest that is signed: `ExportManifest`, with the checkpoint by its digest. */
export function manifestDigest({ checkpoint, sha256: hash, ...facts }: SignedFields): Uint8Array {
  const head = checkpoint ? toHex(checkpointDigest(checkpoint)) : `0x${'00'.repeat(32)}`
  const issuer = checkpoint?.issuer ?? ''
  return structDigest('ExportManifest', { issuer, ...facts, sha256: `0x${hash}`, checkpoint: head })
}

function checkpointDigest({ signature: _, ...signed }: Checkpoint): Uint8Array {
  return structDigest('Checkpoint', signed)
}

export const exportChecks = ['manifest', 'bytes', 'rows', 'signature', 'checkpoint'] as const
export type ExportCheck = { name: (typeof exportChecks)[number] } & Outcome

/** An export, and its manifest as parsed JSON: one beside it, or its own last line. */
export type ExportFile = { data: Uint8Array; manifest: unknown; problems?: readonly Problem[] }

/**
 * Parts an export in JSON lines into its rows and the manifest in its last line; undefined for any
 * other file. Only for a file without a manifest beside it: that one covers the whole file.
 */
export function splitExport(file: Uint8Array): ExportFile | undefined {
  const end = file.at(-1) === newline ? file.length - 1 : file.length
  const start = file.subarray(0, end).lastIndexOf(newline) + 1
  const read = readJsonText(new TextDecoder().decode(file.subarray(start, end)))
  if (!read || !isManifest(read.value) || file[0] !== brace) return undefined
  return { data: file.subarray(0, start), manifest: read.value, problems: read.repeated }
}

const [newline, brace] = [0x0a, 0x7b]

export const isManifest = (value: unknown): boolean =>
  isObject(value) && value['type'] === 'counterfoil.manifest'

/** Judges an export from its bytes alone; never throws. */
export function checkExport(
  { data, manifest: given, problems: before = [] }: ExportFile,
  signers: readonly TrustedSigner[] | undefined,
): ExportCheck[] {
  const problems = [...before]
  const manifest = parseManifest(given, problems)
  if (!manifest || problems.length > 0) {
    const what = problems.map(({ path, message }) => `${path}: ${message}`).join('; ')
    const rest = skip('The manifest could not be read.')
    return exportChecks.map((name, i) => ({ name, ...(i === 0 ? fail(what) : rest) }))
  }
  const outcomes: Record<(typeof exportChecks)[number], Outcome> = {
    manifest: pass('The manifest is one of version 1.'),
    bytes: checkBytes(data, manifest.sha256),
    rows: checkRows(data, manifest),
    signature: checkSigned(manifest, signers),
    checkpoint: checkHead(manifest, signers),
  }
  return exportChecks.map((name) => ({ name, ...outcomes[name] }))
}

const members = new Set([
  ...['type', 'rows', 'sum_nusd', 'as_of', 'sha256', 'checkpoint', 'signature'],
])

function parseManifest(value: unknown, problems: Problem[]): ExportManifest | undefined {
  if (!isObject(value)) return say(problems, '', 'not an object')
  if (value['type'] !== 'counterfoil.manifest') say(problems, 'type', 'not a manifest')
  refuseOthers(value, members, '', problems)
  readMember('string', value['signature'], 'signature', problems)
  for (const name of ['rows', 'as_of', 'sum_nusd']) {
    if (!isCount(value[name], name === 'sum_nusd')) say(problems, name, 'not a whole number')
  }
  const hash = value['sha256']
  if (typeof hash !== 'string' || !/^[0-9a-f]{64}$/.test(hash)) {
    say(problems, 'sha256', 'not 64 digits of lower-case hex')
  }
  const { checkpoint } = value
  if (checkpoint !== null) parseCheckpoint(checkpoint, 'checkpoint', problems)
  return problems.length > 0 ? undefined : (value as ExportManifest)
}

function isCount(value: unknown, isText: boolean): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0
  return isText && typeof value === 'string' && /^[1-9][0-9]{15,19}$/.test(value)
}

function checkBytes(data: Uint8Array, claimed: string): Outcome {
  const found = bytesToHex(sha256(data))
  return found === claimed
    ? pass(`The SHA-256 of ${data.length} bytes is the signed one.`)
    : fail(`The file was changed: expected the SHA-256 ${claimed}; found ${found}.`)
}

/** Counts what the file has; the column of costs is only in CSV and JSON lines, not in FOCUS. */
function checkRows(data: Uint8Array, { rows, sum_nusd: claimed }: ExportManifest): Outcome {
  const found = tally(new TextDecoder().decode(data))
  if (!found) return fail('The file has rows that cannot be read.')
  if (found.rows !== rows) return fail(`Expected ${rows} rows; found ${found.rows}.`)
  if (found.sum !== undefined && found.sum !== BigInt(claimed)) {
    return fail(`Expected costs of ${claimed} nUSD; found ${found.sum}.`)
  }
  const sum = found.sum === undefined ? '' : `, which cost ${found.sum} nUSD`
  return pass(`The file has ${rows} rows${sum}.`)
}

type Tally = { rows: number; sum: bigint | undefined }

function tally(text: string): Tally | undefined {
  if (text === '' || text.startsWith('{')) return tallyJson(text)
  const [header = [], ...rows] = readCsv(text)
  const at = header.indexOf('cost_nusd')
  if (at < 0) return { rows: rows.length, sum: undefined }
  return sumOf(rows.map((row) => row[at]))
}

function tallyJson(text: string): Tally | undefined {
  const lines = text.split('\n').slice(0, -1)
  return sumOf(
    lines.map((line) => {
      const value = readJsonText(line)?.value
      return isObject(value) ? String(value['cost_nusd']) : undefined
    }),
  )
}

function sumOf(costs: readonly (string | undefined)[]): Tally | undefined {
  let sum = 0n
  for (const cost of costs) {
    if (cost === undefined || !/^\d{1,19}$/.test(cost)) return undefined
    sum += BigInt(cost)
  }
  return { rows: costs.length, sum }
}

function checkSigned(
  manifest: ExportManifest,
  signers: readonly TrustedSigner[] | undefined,
): Outcome {
  const recovered = recoverSigner(manifestDigest(signedOf(manifest)), manifest.signature)
  return recovered.ok ? checkSigner(recovered, signers, undefined) : fail(recovered.reason)
}

const signedOf = ({ type: _, signature: __, ...signed }: ExportManifest): SignedFields => signed

function checkHead(
  { checkpoint }: ExportManifest,
  signers: readonly TrustedSigner[] | undefined,
): Outcome {
  if (!checkpoint) return skip('The manifest names no checkpoint of the log.')
  const recovered = recoverSigner(checkpointDigest(checkpoint), checkpoint.signature)
  if (!recovered.ok) return fail(recovered.reason)
  return checkSigner(recovered, signers, BigInt(checkpoint.size) - 1n)
}
