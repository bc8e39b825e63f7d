/** Reads the files that commands of verification are given. */
import { readFileSync, statSync } from 'node:fs'
import { type JsonText, readJsonText } from '../verify/json-text.ts'
import { type Policy, readPolicy } from '../verify/policy.ts'
import { Exit, exitCodes } from './context.ts'

/** Largest accepted file, in bytes: a receipt with its texts. */
export const fileBytes = 1024 * 1024

/** @throws Exit 2 */
export const readJsonFile = (path: string): JsonText => {
  const text = readJsonText(readText(path, fileBytes))
  if (text) return text
  throw new Exit(exitCodes.usage, `${path} is not JSON`)
}

/** Keeps each character: no replacement for bytes that are none, no mark taken away. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** @throws Exit 2 */
export function readText(path: string, most: number): string {
  const unreadable = (why: string): never => {
    throw new Exit(exitCodes.usage, `${path} ${why}`)
  }
  try {
    if (statSync(path).size > most) return unreadable(`is larger than ${most / 1024 / 1024} MiB`)
    return utf8.decode(readFileSync(path))
  } catch (error) {
    if (error instanceof Exit) throw error
    if (error instanceof TypeError) return unreadable('is not text in UTF-8')
    return unreadable('cannot be read')
  }
}

/** The policy of `--policy`; undefined where none was named. @throws Exit 2 with every problem */
export function readPolicyFile({ policy: path }: { policy?: string }): Policy | undefined {
  if (path === undefined) return undefined
  const read = readPolicy(readText(path, fileBytes))
  if (read.ok) return read.policy
  throw new Exit(exitCodes.usage, `${path} is not a policy: ${read.problems.join('; ')}`)
}
