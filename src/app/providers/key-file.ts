/** Keeps the key of a provider in a file of its own in the data folder. */
import { existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makeFile } from '../../config/replace-file.ts'

/** The file in the data folder that keeps a provider's key. */
export function keyFileFor(data: string, id: string): string {
  const first = join(data, 'keys', id)
  if (!existsSync(first)) return first
  for (let at = 2; ; at++) {
    if (!existsSync(`${first}-${at}`)) return `${first}-${at}`
  }
}

/** @throws Error when the folder or the file cannot be written */
export function storeKey(file: string, key: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  makeFile(file, `${key}\n`)
}
