/** Finds the key that signs receipts, the key that pays for anchors, and the known heads. */
import { join } from 'node:path'
import type { Config } from '../config/config.ts'
import { ensureFolder } from '../config/ensure-folder.ts'
import { systemRandom } from '../kernel/random.ts'
import { type Sender, senderOf } from '../proof/anchors/sender.ts'
import type { HeadFile } from '../proof/log/heads.ts'
import { openHeadFile } from '../proof/log/store/head-file.ts'
import { readSecretFile } from '../proof/signer/key-file.ts'
import { type Signer, signerFromHex } from '../proof/signer/signer.ts'
import { type KeySource, openSource } from '../proof/signer/source.ts'
import { findKnownSigner } from '../proof/signer/store.ts'
import type { Db } from '../storage/db/engine/db.ts'

/** Opens the signer of receipts: the first of keystore, key file, environment and data folder. */
export async function openDataSigner(
  config: Config,
  db: Db,
  envKey: string | undefined,
): Promise<Signer> {
  ensureFolder(config.data, 'data')
  return openSource(keySourceOf(config, envKey), await findKnownSigner(db), systemRandom())
}

export function keySourceOf({ data, signer }: Config, envKey: string | undefined): KeySource {
  const { keystore_file: keystore, password_file: passwordFile, key_file: file } = signer
  if (keystore !== undefined && passwordFile !== undefined) {
    return { kind: 'keystore', file: keystore, passwordFile }
  }
  if (file !== undefined) return { kind: 'file', file }
  if (envKey !== undefined) return { kind: 'env', hex: envKey }
  return { kind: 'data', file: join(data, 'signer.key') }
}

/** The heads that the data folder knows. @throws Error that names the file and what to do. */
export const openHeads = ({ data }: Pick<Config, 'data'>): HeadFile =>
  openHeadFile(data, Buffer.from(systemRandom().bytes(8)).toString('hex'))

/**
 * Opens the sender that pays for anchors; undefined if none is configured. It is never created,
 * because its account needs gas.
 * @throws Error that names the file and what to do.
 */
export function openAnchorSender({ anchors }: Config): Sender | undefined {
  const { sender_key_file: file } = anchors
  if (file === undefined) return undefined
  const text = readSecretFile(file, 'anchor sender key file')
  if (text === undefined) {
    throw new Error(`the anchor sender key file ${file} is not there; make it, mode 0600`)
  }
  return senderOf(signerFromHex(text, `the anchor sender key in ${file}`))
}
