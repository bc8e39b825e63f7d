/** Reads the file of all shards: which slots each has, and where it answers. */
import { parse, TomlError } from 'smol-toml'
import { isShardId, type ShardEntry, slotCount } from '../kernel/shard.ts'
import { parseSlots, shardIdForm, slotsForm, slotsText } from '../storage/slots/slot-text.ts'
import { isTable, unknownKey } from './setting.ts'
import { httpUrl } from './values.ts'

type MapText = { text: string } | { unreadable: string } | undefined

/** The settings of `[shard]`. */
type ShardSettings = {
  id?: string | undefined
  slots?: string | undefined
  map?: string | undefined
}

/** All shards, this one too; none without `[shard]`, and after adding to the problems. */
export function findShards(
  { id, slots, map }: ShardSettings,
  readFile: (path: string) => MapText,
  problems: string[],
): ShardEntry[] {
  if (id === undefined && slots === undefined && map === undefined) return []
  if (id === undefined || map === undefined) {
    problems.push('shard.id and shard.map belong together: set both, or neither')
    return []
  }
  const all = readShards(map, readFile(map), problems)
  const own = all.find((one) => one.id === id)
  if (all.length > 0 && !own) {
    problems.push(`shard.id is "${id}", which ${map} does not name; add [${id}] there`)
  }
  const inMap = own && slotsText(own.slots)
  if (slots !== undefined && own && inMap !== slotsText(parseSlots(slots) ?? [])) {
    problems.push(
      `shard.slots is "${slots}", but ${map} gives ${id} the slots "${inMap}": make them the same`,
    )
  }
  return all
}

/** All shards of a file that was read. Adds faults to `problems`, with the file's name. */
export function readShards(path: string, found: MapText, problems: string[]): ShardEntry[] {
  const wrong = (what: string) => void problems.push(`${path}: ${what}`)
  if (!found || 'unreadable' in found) {
    wrong(`the file of all shards cannot be read: ${found?.unreadable ?? 'it is not there'}`)
    return []
  }
  let file: Record<string, unknown>
  try {
    file = parse(found.text, { integersAsBigInt: true, unsafeKeyBehaviour: 'throw' })
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    wrong(`${error.line}:${error.column}: ${error.message.split('\n')[0]}`)
    return []
  }
  const before = problems.length
  const shards = Object.entries(file).map(([id, raw]) => readShard(id, raw, wrong))
  if (problems.length > before) return []
  assertWhole(shards, wrong)
  return problems.length > before ? [] : shards
}

const fields = ['slots', 'url']

function readShard(id: string, raw: unknown, wrong: (what: string) => void): ShardEntry {
  const none = { id, slots: [], url: undefined }
  if (!isShardId(id)) wrong(`the id of a shard must be ${shardIdForm}; [${id}] is not`)
  if (!isTable(raw)) {
    wrong(`${id} must be a table: [${id}]`)
    return none
  }
  for (const name of Object.keys(raw)) {
    if (!fields.includes(name)) wrong(unknownKey(`${id}.${name}`, name, fields))
  }
  const { slots: text, url } = raw
  const slots = typeof text === 'string' ? parseSlots(text) : undefined
  if (slots === undefined) wrong(`${id}.slots must be ${slotsForm}, none twice`)
  const checked = url === undefined ? undefined : httpUrl.check(url)
  if (checked && 'must' in checked) wrong(`${id}.url must be ${checked.must}`)
  return { id, slots: slots ?? [], url: checked && 'value' in checked ? checked.value : undefined }
}

/** Each slot must be of one shard: an account of a slot without one would have no place. */
function assertWhole(shards: readonly ShardEntry[], wrong: (what: string) => void): void {
  const owners = new Map<number, string>()
  for (const { id, slots } of shards) {
    const twice = slots.filter((slot) => owners.has(slot))
    for (const other of new Set(twice.map((slot) => owners.get(slot)))) {
      const common = twice.filter((slot) => owners.get(slot) === other)
      wrong(`${other} and ${id} both have the slots ${slotsText(common)}; each slot has one shard`)
    }
    for (const slot of slots) owners.set(slot, id)
  }
  const free = Array.from({ length: slotCount }, (_, slot) => slot).filter(
    (slot) => !owners.has(slot),
  )
  if (free.length > 0) {
    wrong(`no shard has the slots ${slotsText(free)}; the shards together have 0 to 1023`)
  }
}
