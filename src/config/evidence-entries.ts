/** How an upstream signs its answers: `[upstreams.attest]`. */
import type { EvidenceConfig } from '../models/upstream/signed-exchange.ts'
import { evidenceSchemeNames, evidenceSchemes } from '../verify/evidence-schemes.ts'
import { needed, readTable, set } from './setting.ts'
import { listOf, oneOf, text } from './values.ts'

/** The fields of the table. */
export const evidenceFields = {
  scheme: needed(
    oneOf(...evidenceSchemeNames),
    'Scheme of its signatures. near-ai: NEAR AI Cloud and servers with the proxy of its enclaves.',
  ),
  keys: needed(
    listOf(text('key', 'a key of the scheme', /^\S{1,200}$/)),
    'Keys that may sign, from a report that you checked. near-ai: addresses, 0x… each.',
  ),
  path: set(
    text('path', 'a path with {id}, without a query', /^(?!\/)[\w./-]*\{id\}[\w./-]*$/),
    'signature/{id}',
    'Path of the signature of an answer, below base_url.',
  ),
} as const

/** The most keys of an upstream: those of its machines, and the old beside the new. */
const mostKeys = 64

/** Undefined after adding to the problems. `kind` is that of the upstream. */
export function readEvidenceConfig(
  raw: unknown,
  kind: string,
  where: string,
  problems: string[],
): EvidenceConfig | undefined {
  const read = readTable(evidenceFields, raw, where, problems)
  if (!read) return undefined
  const { scheme, keys } = read
  const before = problems.length
  if (keys.length === 0 || keys.length > mostKeys) {
    problems.push(`${where}.keys must name 1 to ${mostKeys} keys`)
  }
  const wrong = keys.find((key) => !evidenceSchemes[scheme].isKey(key))
  if (wrong !== undefined) problems.push(`${where}.keys: "${wrong}" is not a key of ${scheme}`)
  if (kind !== 'openai') problems.push(`${where} needs kind = "openai": ${scheme} signs that API`)
  return problems.length === before ? read : undefined
}
