import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Deps } from '../../app/deps-port.ts'
import { refuse } from '../../kernel/refusal.ts'
import type { Db } from '../../storage/db/db.ts'
import { assertUnbroken } from '../log/checkpoint.ts'
import { moveKeyFiles, nextPathOf, oldPathOf, readSecretFile, writeKeyFile } from './key-file.ts'
import { makeSigner, readSigner, type Signer, signerFromHex } from './signer.ts'
import type { KeySource } from './source.ts'
import { type Change, type Changed, signerChanges } from './store/signer-change.ts'
import { assertSame } from './store.ts'

type Needs = Pick<
  Deps,
  'logStore' | 'checkpoints' | 'clock' | 'random' | 'ids' | 'logs' | 'signers' | 'log' | 'heads'
> & { db: Db }

export type Wish = {
  reason: string
  /** Where the key of now comes from. */
  source: KeySource
  /** Folder of the data. */
  data: string
  /** A file with the next key; a new one is made when absent. */
  nextKeyFile?: string | undefined
}

/** What changed, and where the keys are now. */
export type Turned = Changed & {
  previous: string
  next: string
  /** The file of the key that signs now. */
  keyFile: string
  /** The file of the key before; undefined where it did not come from a file. */
  oldKeyFile: string | undefined
}

/**
 * Lets another key sign from the next index on. The order survives a crash anywhere: the next
 * key is on the disk before the database names it, and a start moves the files to where they
 * belong if this did not come to it.
 * @throws Refusal `conflict` for a key that signed before, `log_diverged`
 */
export async function rotateSigner(deps: Needs, wish: Wish, old: Signer): Promise<Turned> {
  assertSame(deps.signers.current.address, old)
  return turn(deps, wish, (change) =>
    signerChanges(deps.db, deps.logStore).rotate({ ...change, old }),
  )
}

/**
 * Takes everything from an index on from a key that was stolen; the next key signs it again. `old`
 * is undefined where the key is gone.
 * @throws Refusal `invalid_request` for an index that is not the key's, `conflict`, `log_diverged`
 */
export async function revokeSigner(
  deps: Needs,
  wish: Wish & { fromIndex: number },
  old: Signer | undefined,
): Promise<Turned> {
  if (old) assertSame(deps.signers.current.address, old)
  return turn(deps, wish, (change) =>
    signerChanges(deps.db, deps.logStore).revoke({ ...change, old }, wish.fromIndex),
  )
}

async function turn(
  deps: Needs,
  { source, data, reason, nextKeyFile }: Wish,
  commit: (change: Change) => Promise<Changed>,
): Promise<Turned> {
  await deps.heads.start()
  await assertUnbroken(deps)
  const previous = deps.signers.current
  const isFile = source.kind === 'file' || source.kind === 'data'
  const file = isFile ? source.file : join(data, 'signer.key')
  const next = placeNext(deps, nextPathOf(file), nextKeyFile)
  const who = { log: deps.logs.current, previous, old: undefined, next }
  const changed = await commit({ ...who, reason, now: deps.clock.now(), id: deps.ids.make('req') })
  // The head that it signed is kept in the data folder too.
  await deps.heads.look()
  const keyFile = isFile ? file : oldPathOf(file, next.address)
  if (isFile) moveKeyFiles(file, previous.address)
  else renameSync(nextPathOf(file), keyFile)
  const oldKeyFile = isFile ? oldPathOf(file, previous.address) : undefined
  return { ...changed, previous: previous.address, next: next.address, keyFile, oldKeyFile }
}

/** Puts the next key on the disk, a given one or a new one. */
function placeNext({ signers, random }: Needs, path: string, given: string | undefined): Signer {
  const left = readSigner(path)
  if (left?.address === signers.current.address) {
    throw new Error(`${path} holds the key that signs now; name it in [signer] key_file`)
  }
  // Of a change that never came to its end: the database does not know it.
  rmSync(path, { force: true })
  if (given === undefined) return makeSigner({ keyFile: path, random })
  const text = readSecretFile(given, 'signer key file')
  if (text === undefined) throw new Error(`there is no key file at ${given}`)
  const next = signerFromHex(text, `the signer key in ${given}`)
  if (signers.all.some(({ address }) => address === next.address)) {
    refuse('conflict', `${next.address} signed before, and no key comes back. Make a new one.`)
  }
  writeKeyFile(path, text.trim())
  return next
}
