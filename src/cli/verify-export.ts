/** `verify` of an export: compares a file with its signed manifest, offline. */
import { readFileSync } from 'node:fs'
import type { TrustedSigner } from '../verify/checks.ts'
import { readJsonText } from '../verify/json-text.ts'
import {
  checkExport,
  type ExportCheck,
  type ExportFile,
  isManifest,
  splitExport,
} from '../verify/manifest.ts'
import { Exit, exitCodes, print, printJson, say } from './context.ts'

type Options = { signer: readonly TrustedSigner[]; manifest?: string; json?: boolean }

/** Whether a file is an export: its manifest was named, or it is JSON lines or CSV by its name. */
export const isExport = (path: string, manifest: string | undefined): boolean =>
  manifest !== undefined || /\.(jsonl|csv)$/i.test(path)

/** Prints each check, and sets the status of the process. @throws Exit 2 */
export function verifyExport(path: string, options: Options): void {
  const { signer, manifest, json } = options
  const file = manifest === undefined ? ownManifest(path) : besideManifest(path, manifest)
  const checks = checkExport(file, signer.length > 0 ? signer : undefined)
  if (json) printJson({ object: 'export.verdict', checks })
  else for (const check of checks) print(lineOf(check))
  process.exitCode = exitCodeOf(checks)
  if (json) return
  if (process.exitCode === 0) print('Verified. The file is what the trusted key signed.')
  else if (process.exitCode === exitCodes.failed) print('Not valid. Do not rely on this file.')
  else say('Nothing fails, but no trusted signer was named: name one with --signer.')
}

const marks = { pass: '✓', fail: '✗', skip: '-', unavailable: '?' } as const
const lineOf = ({ name, status, reason }: ExportCheck): string =>
  `${marks[status]} ${name.padEnd(12)} ${reason}`

function exitCodeOf(checks: readonly ExportCheck[]): number {
  const has = (wanted: ExportCheck['status']) => checks.some(({ status }) => status === wanted)
  if (has('fail')) return exitCodes.failed
  return has('unavailable') ? exitCodes.unavailable : 0
}

/** The rows of a JSONL export, and its last line. @throws Exit 2 */
function ownManifest(path: string): ExportFile {
  const split = splitExport(read(path))
  if (split) return split
  const why = 'does not end with a manifest. Name one with --manifest.'
  throw new Exit(exitCodes.usage, `${path} ${why}`)
}

/** @throws Exit 2 */
function besideManifest(path: string, manifest: string): ExportFile {
  const found = readJsonText(new TextDecoder().decode(read(manifest)))
  if (!found || !isManifest(found.value)) {
    const why = 'is not a manifest: save the answer of GET /v1/usage/export/manifest'
    throw new Exit(exitCodes.usage, `${manifest} ${why}`)
  }
  return { data: read(path), manifest: found.value, problems: found.repeated }
}

/** @throws Exit 2 */
function read(path: string): Uint8Array {
  try {
    return readFileSync(path)
  } catch {
    throw new Exit(exitCodes.usage, `${path} cannot be read`)
  }
}
