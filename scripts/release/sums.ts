/** SHA256SUMS of a release, and its signature. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { compareBytes } from './order.ts'

export const sumsFile = 'SHA256SUMS'
/** Where minisign puts a signature. */
export const signatureFile = `${sumsFile}.minisig`

/** The lines that `sha256sum --check` reads, by name. */
export function sumsOf(files: ReadonlyMap<string, string>): string {
  const names = [...files.keys()].sort(compareBytes)
  return names.map((name) => `${files.get(name)}  ${name}\n`).join('')
}

/** Writes SHA256SUMS of all files of a folder but itself and its signature. */
export async function writeSums(folder: string): Promise<void> {
  const sums = new Map<string, string>()
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (!entry.isFile() || [sumsFile, signatureFile].includes(entry.name)) continue
    sums.set(entry.name, await sha256Of(join(folder, entry.name)))
  }
  await Bun.write(join(folder, sumsFile), sumsOf(sums))
}

/** The SHA-256 of a file as hex, read piece by piece. */
export async function sha256Of(file: string): Promise<string> {
  const hasher = new Bun.CryptoHasher('sha256')
  for await (const piece of Bun.file(file).stream()) hasher.update(piece)
  return hasher.digest('hex')
}

/**
 * Signs SHA256SUMS with minisign, which asks for the password of the key. `key` is the path of the
 * secret key; this script never reads it.
 * @throws Error when minisign is missing or refuses
 */
export async function sign(folder: string, key: string, comment: string): Promise<void> {
  const minisign = Bun.which('minisign')
  if (!minisign) throw new Error('minisign is missing: apt-get install minisign')
  const file = join(folder, sumsFile)
  const command = [minisign, '-S', '-s', key, '-m', file, '-t', comment]
  const done = Bun.spawn(command, { stdin: 'inherit', stdout: 'inherit', stderr: 'inherit' })
  if ((await done.exited) !== 0) throw new Error(`minisign did not sign ${file}`)
}
