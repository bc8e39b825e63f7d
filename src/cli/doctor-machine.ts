/** The `doctor` checks of this machine: file permissions and disk space. */
import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Config } from '../config/config.ts'
import { headPathOf } from '../proof/log/store/head-file.ts'
import { type Finding, failure, fine, quote, warning } from './finding.ts'

/** Free bytes below which the disk is a warning, and below which it is a failure. */
const scarceBytes = 2 * 1024 ** 3
const fullBytes = 200 * 1024 ** 2

/** Checks who can read the files that hold money and keys. */
export function lookAtFiles(config: Config): Finding[] {
  const { data, signer, anchors, database_url: url } = config
  const database = url.startsWith('sqlite:') ? url.slice('sqlite:'.length) : undefined
  const files = [
    database,
    database && `${database}-wal`,
    signer.key_file ?? join(data, 'signer.key'),
    signer.keystore_file,
    signer.password_file,
    anchors.sender_key_file,
    headPathOf(data),
  ]
  const unusable = unusableFolder(data)
  if (unusable) return [unusable]
  const open = [...files.map((file) => tooOpen(file, 0o600)), tooOpen(data, 0o700)]
  const found = open.filter((one) => one !== undefined)
  if (found.length > 0) return found
  return [fine('files', 'Only the owner can read the data and keys.')]
}

/** The finding for a data path that is a file, or that this user may not write to. */
function unusableFolder(data: string): Finding | undefined {
  const path = resolve(data)
  if (!existsSync(path)) return undefined
  if (!statSync(path).isDirectory()) {
    return failure('files', `data is not a folder: ${path}.`, 'set data to a folder')
  }
  try {
    accessSync(path, constants.W_OK | constants.X_OK)
    return undefined
  } catch {
    const message = `The data folder is not writable by this user: ${path}.`
    const fix = `chown to the user that counterfoil runs as: ${quote(path)}`
    return failure('files', message, fix)
  }
}

function tooOpen(path: string | undefined, mode: number): Finding | undefined {
  if (path === undefined || !existsSync(path)) return undefined
  const found = statSync(path).mode & 0o777
  if ((found & 0o077) === 0) return undefined
  const message = `Others can read ${path} (mode ${found.toString(8)}).`
  return failure('files', message, `chmod ${mode.toString(8)} ${quote(path)}`)
}

/** Checks the free disk space. */
export function lookAtDisk({ data }: Pick<Config, 'data'>): Finding[] {
  let folder = resolve(data)
  while (!existsSync(folder)) folder = dirname(folder)
  const { bavail, bsize } = statfsSync(folder)
  const free = bavail * bsize
  const words = `${Math.floor(free / 1024 ** 2)} MiB are free on the disk of ${folder}.`
  const fix = `df -h ${quote(folder)}`
  if (free < fullBytes) return [failure('disk', `${words} Writes fail soon.`, fix)]
  return [free < scarceBytes ? warning('disk', words, fix) : fine('disk', words)]
}
