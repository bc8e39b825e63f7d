/** Changes models and upstreams in the configuration file of a running server. */
import type { Config } from '../../config/config.ts'
import { readConfigText as readConfigOf } from '../../config/file.ts'
import { sha256Hex } from '../../kernel/hash.ts'
import { refuse, refuseField } from '../../kernel/refusal.ts'
import { makeCatalogue } from '../../models/catalogue.ts'
import { checkUpstream } from '../../models/upstream/check.ts'
import { upstreamWords } from '../../models/upstream/check-words.ts'
import { meterWords } from '../../verify/meter-words.ts'
import { canReplace, readConfigText } from '../providers/config-file.ts'
import { keyFileFor } from '../providers/key-file.ts'
import { type DeskPlace, writeChange } from '../providers/write-change.ts'
import { lossesIn } from '../reload.ts'
import { withModelWish, withUpstreamWish, writtenModel, writtenUpstream } from './changed-text.ts'
import type { ChangeDesk, ChangeDraft, ChangeProposal, ChangeWish } from './changes-port.ts'
import { lineDiff } from './line-diff.ts'
import { guessedCut, marginsOf } from './price-change.ts'

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
  write: (draft) =>
    writeChange(place, draft, (text) => textWith(text, draft.wish, draft.key?.file)),
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
  const loaded = readConfigOf(place.flags, textWith(text, kept, undefined) ?? fresh)
  if ('problems' in loaded) {
    return refuse('conflict', `${path} would be invalid: ${loaded.problems[0]}`)
  }
  return {
    ...moneyOf(place, { wish, text, next: loaded.config }),
    draft: { wish: kept, before: sha256Hex(text), after: sha256Hex(fresh), key },
    diff: lineDiff(text, fresh),
    path,
    isWritable: canReplace(path),
    hasOthers: !config.database_url.startsWith('sqlite:'),
  }
}

type Changing = { wish: ChangeWish; text: string; next: Config }

/** Prices and losses of a change. @throws Refusal 'invalid_request' for those that are not meant */
function moneyOf({ flags }: FilePlace, { wish, text, next }: Changing) {
  const loaded = readConfigOf(flags, text)
  if ('problems' in loaded) return { margins: [], losses: [] }
  const known = new Set(lossesIn(loaded.config))
  const losses = lossesIn(next).filter((one) => !known.has(one))
  if (wish.kind !== 'model') return { margins: [], losses }
  if (losses.length > 0 && !wish.mayLose) {
    refuseField('may_lose', `Below cost: ${losses[0]}. Raise the price, or tick this box.`)
  }
  const [before, after] = [loaded.config, next].map((config) => modelOf(config, wish.id))
  const cut = guessedCut(before, after)
  if (cut !== undefined && !wish.mayGuess) {
    const where = `The price of ${meterWords(cut).toLowerCase()} falls, and a step has no cost`
    refuseField('cost_unknown', `${where}. Set its cost in the file, or tick this box.`)
  }
  return { margins: marginsOf(before, after), losses }
}

const modelOf = ({ models, upstreams }: Config, id: string) =>
  makeCatalogue({ models, upstreamIds: upstreams.map((one) => one.id) }).get(id)

const textWith = (
  text: string,
  wish: ChangeDraft['wish'],
  keyFile: string | undefined,
): string | undefined =>
  wish.kind === 'model' ? withModelWish(text, wish) : withUpstreamWish(text, wish, keyFile)

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
