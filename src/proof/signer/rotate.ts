/** Replaces the key that signs receipts, planned (rotate) or after a theft (revoke). */
import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Deps } from '../../app/deps-port.ts'
import { refuse } from '../../kernel/refusal.ts'
import type { Db } from '../../storage/db/engine/db.ts'
import { assertUnbroken } from '../log/checkpoint.ts'
import { moveKeyFiles, nextPathOf, oldPathOf, readSecretFile, writeKeyFile } from './key-file.ts'
import { makeSigner, readSigner, type Signer, signerFromHex } from './signer.ts'
import type { KeySource } from './source.ts'
import { type Change, type SignerChange, signerChanges } from './store/signer-change.ts'
import { assertSame } from './store.ts'

type RotateDeps = Pick<
  Deps,
  'logStore' | 'checkpoints' | 'clock' | 'random' | 'ids' | 'logs' | 'signers' | 'log' | 'heads'
> & { db: Db }

export type RotationRequest = {
  reason: string
  /** The source of the current key. */
  source: KeySource
  /** The data folder. */
  data: string
  /** A file with the next key; a new key is made if undefined. */
  nextKeyFile?: string | undefined
}

/** The change, and the files of both keys. */
export type RotationResult = SignerChange & {
  previous: string
  next: string
  /** The file of the key that signs from now on. */
  keyFile: string
  /** The file of the previous key; undefined if it did not come from a file. */
  oldKeyFile: string | undefined
}

/**
 * Makes another key sign from the next index on. Safe against crashes: the next key is on disk
 * before the database names it, and a start moves the files if this did not finish.
 * @throws Refusal `conflict` for a key that signed before, `log_diverged`
 */
export async function rotateSigner(
  deps: RotateDeps,
  wish: RotationRequest,
  old: Signer,
): Promise<RotationResult> {
  assertSame(deps.signers.current.address, old)
  return replaceKey(deps, wish, (change) =>
    signerChanges(deps.db, deps.logStore).rotate({ ...change, old }),
  )
}

/**
 * Revokes a stolen key from an index on; the next key signs that range again. `old` is undefined
 * if the key is lost.
 * @throws Refusal `invalid_request` for an index outside the key's range, `conflict`,
 * `log_diverged`
 */
export async function revokeSigner(
  deps: RotateDeps,
  wish: RotationRequest & { fromIndex: number },
  old: Signer | undefined,
): Promise<RotationResult> {
  if (old) assertSame(deps.signers.current.address, old)
  return replaceKey(deps, wish, (change) =>
    signerChanges(deps.db, deps.logStore).revoke({ ...change, old }, wish.fromIndex),
  )
}

async function replaceKey(
  deps: RotateDeps,
  { source, data, reason, nextKeyFile }: RotationRequest,
  commit: (change: Change) => Promise<SignerChange>,
): Promise<RotationResult> {
  await deps.heads.start()
  await assertUnbroken(deps)
  const previous = deps.signers.current
  const isFile = source.kind === 'file' || source.kind === 'data'
  const file = isFile ? source.file : join(data, 'signer.key')
  const next = placeNext(deps, nextPathOf(file), nextKeyFile)
  const who = { log: deps.logs.current, previous, old: undefined, next }
  const changed = await commit({ ...who, reason, now: deps.clock.now(), id: deps.ids.make('req') })
  // Saves the new head in the data folder too.
  await deps.heads.look()
  const keyFile = isFile ? file : oldPathOf(file, next.address)
  if (isFile) moveKeyFiles(file, previous.address)
  else renameSync(nextPathOf(file), keyFile)
  const oldKeyFile = isFile ? oldPathOf(file, previous.address) : undefined
  return { ...changed, previous: previous.address, next: next.address, keyFile, oldKeyFile }
}

/** Writes the next key to disk: the given one or a new one. */
function placeNext(
  { signers, random }: RotateDeps,
  path: string,
  given: string | undefined,
): Signer {
  const left = readSigner(path)
  if (left?.address === signers.current.address) {
    throw new Error(`${path} holds the key that signs now; name it in [signer] key_file`)
  }
  // Left by a change that never finished; the database does not know it.
  rmSync(path, { force: true })
  if (given === undefined) return makeSigner({ keyFile: path, random })
  const text = readSecretFile(given, 'signer key file')
  if (text === undefined) throw new Error(`there is no key file at ${given}`)
  const next = signerFromHex(text, `the signer key in ${given}`)
  if (signers.all.some(({ address }) => address === next.address)) {
    refuse('conflict', `${next.address} signed before and cannot be used again. Use a new key.`)
  }
  writeKeyFile(path, text.trim())
  return next
}
