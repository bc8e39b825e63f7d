/** Changes models and upstreams in the configuration file of a running server. */
import { rmSync } from 'node:fs'
import { readConfigText as readConfigOf } from '../../config/file.ts'
import { sha256Hex } from '../../kernel/hash.ts'
import { refuse } from '../../kernel/refusal.ts'
import { checkUpstream } from '../../models/upstream/check.ts'
import { upstreamWords } from '../../models/upstream/check-words.ts'
import { canReplace, readConfigText, replaceConfig } from '../providers/config-file.ts'
import { keyFileFor, storeKey } from '../providers/key-file.ts'
import type { DeskPlace } from '../providers/write-provider.ts'
import type { ReloadResult } from '../reload-port.ts'
import { withModelWish, withUpstreamWish, writtenModel, writtenUpstream } from './changed-text.ts'
import type { ChangeDesk, ChangeDraft, ChangeProposal, ChangeWish } from './changes-port.ts'
import { lineDiff } from './line-diff.ts'

export const openChangeDesk = (place: DeskPlace): ChangeDesk => ({
  model: (id) => writtenModel(soundText(place), id),
  upstream: (id) => writtenUpstream(soundText(place), id),
  async test(id) {
    const loaded = readConfigOf(place.flags, readConfigText(place.path))
    if ('problems' in loaded) return refuseFaulty(place.path, loaded.problems)
    const found = loaded.config.upstreams.find((one) => one.id === id)
    if (!found) return refuse('not_found', 'No such upstream in the configuration.')
    const check = await checkUpstream(found)
    return { check, words: upstreamWords[check.status] }
  },
  propose: (wish) => propose(place, wish),
  write: (draft) => write(place, draft),
})

function propose(place: DeskPlace, wish: ChangeWish): ChangeProposal {
  const { path, config } = place
  const text = soundText(place)
  const secret = wish.kind === 'upstream' ? wish.key : undefined
  const file = secret === undefined ? undefined : keyFileFor(config.data, wish.id)
  const key = secret !== undefined && file !== undefined ? { secret, file } : undefined
  const { key: _, ...kept } = { key: undefined, ...wish }
  const fresh = textWith(text, kept, file)
  if (fresh === undefined) refuse('conflict', `${path} cannot be changed safely: edit it by hand.`)
  if (fresh === text) refuse('conflict', 'This changes nothing.')
  // The new key is not stored yet: without it everything else must hold.
  const faults = faultsOf(place, textWith(text, kept, undefined) ?? fresh)
  if (faults !== undefined) refuse('conflict', `${path} would be invalid: ${faults}`)
  return {
    draft: { wish: kept, before: sha256Hex(text), after: sha256Hex(fresh), key },
    diff: lineDiff(text, fresh),
    path,
    isWritable: canReplace(path),
    hasOthers: !config.database_url.startsWith('sqlite:'),
  }
}

const textWith = (
  text: string,
  wish: ChangeDraft['wish'],
  keyFile: string | undefined,
): string | undefined =>
  wish.kind === 'model' ? withModelWish(text, wish) : withUpstreamWish(text, wish, keyFile)

function write({ path, flags, reload }: DeskPlace, draft: ChangeDraft): Promise<ReloadResult> {
  const { wish, before, after, key } = draft
  // No other request of this process runs between this look and the rename.
  const text = readConfigText(path)
  const isSame = sha256Hex(text) === before
  const fresh = isSame ? textWith(text, wish, key?.file) : undefined
  if (fresh === undefined || sha256Hex(fresh) !== after) {
    return refuse(
      'conflict',
      `${path} was changed since. Nothing was written: look at the change again.`,
    )
  }
  // The key goes first: a configuration that names a missing key would stop the next start.
  if (key) keepKey(key)
  try {
    const faults = faultsOf({ path, flags }, fresh)
    if (faults !== undefined) refuse('conflict', `${path} would be invalid: ${faults}`)
    writeFile(path, fresh, text)
  } catch (error) {
    if (key) rmSync(key.file, { force: true })
    throw error
  }
  return reload().catch(() => ({
    problems: [`The server could not take on ${path}: see its log.`],
  }))
}

function keepKey({ file, secret }: NonNullable<ChangeDraft['key']>): void {
  try {
    storeKey(file, secret)
  } catch {
    refuse('conflict', `The key could not be stored in ${file}. Nothing was changed.`)
  }
}

function writeFile(path: string, fresh: string, read: string): void {
  try {
    replaceConfig(path, fresh, read)
  } catch {
    refuse('conflict', `${path} could not be written. Make the change there by hand.`)
  }
}

type FilePlace = Pick<DeskPlace, 'path' | 'flags'>

/** The text of a file that has no errors. @throws Refusal 'conflict' */
function soundText(place: FilePlace): string {
  const text = readConfigText(place.path)
  const fault = faultsOf(place, text)
  return fault === undefined ? text : refuseFaulty(place.path, [fault])
}

/** The first error of a text; undefined without one. */
function faultsOf({ flags }: FilePlace, text: string): string | undefined {
  const loaded = readConfigOf(flags, text)
  return 'problems' in loaded ? loaded.problems[0] : undefined
}

const refuseFaulty = (path: string, problems: readonly string[]): never =>
  refuse('conflict', `${path} has an error: ${problems[0]}. Correct it first.`)
