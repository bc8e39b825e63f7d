/** Finds the signer's key: in a keystore, a file, the environment or the data folder. */
import { existsSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import type { Random } from '../../kernel/random.ts'
import { moveKeyFiles, nextPathOf, readSecretFile } from './key-file.ts'
import { openKeystore } from './keystore.ts'
import { makeSigner, readSigner, type Signer, signerFromBytes, signerFromHex } from './signer.ts'

export type KeySource =
  | { kind: 'keystore'; file: string; passwordFile: string }
  | { kind: 'file'; file: string }
  | { kind: 'env'; hex: string }
  /** Created at the first start. */
  | { kind: 'data'; file: string }

/**
 * Opens the signer of a source. `known` is the signer's address in the database: if it is already
 * that of the next key, a rotation was interrupted before it moved the files, which happens now.
 * @throws Error that says what is wrong, never with the content of a file.
 */
export function openSource(source: KeySource, known: string | undefined, random: Random): Signer {
  if (source.kind === 'env') return signerFromHex(source.hex, 'COUNTERFOIL_SIGNER_KEY')
  if (source.kind === 'keystore') return openKeystoreFile(source)
  const { file } = source
  const signer = readSigner(file)
  if (signer && (known === undefined || signer.address === known)) return signer
  const next = known === undefined ? undefined : readSigner(nextPathOf(file))
  if (next && next.address === known) {
    moveKeyFiles(file, signer?.address ?? '')
    return next
  }
  if (signer) return signer
  if (source.kind === 'data' && known === undefined) return makeSigner({ keyFile: file, random })
  const whose = known === undefined ? '' : `, which held the key of ${known}`
  throw new Error(`there is no ${basename(file)} at ${file}${whose}; restore it`)
}

function openKeystoreFile({ file, passwordFile }: { file: string; passwordFile: string }): Signer {
  if (!existsSync(file)) throw new Error(`there is no keystore at ${file}`)
  const password = readSecretFile(passwordFile, 'password file')
  if (password === undefined) throw new Error(`there is no password file at ${passwordFile}`)
  const text = readFileSync(file, 'utf8')
  try {
    const key = openKeystore(text, password.replace(/\r?\n$/, ''))
    return signerFromBytes(key, 'the key in it')
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'it cannot be read'
    throw new Error(`the keystore ${file}: ${reason}`)
  }
}
