import { describe, expect, test } from 'bun:test'
import { markOf, shardAmong, slotCount } from '../../../src/kernel/shard.ts'
import { parseSlots, prefixPattern, slotsText } from '../../../src/storage/slots/slot-text.ts'
import { load, problemsOf } from '../../config/load.ts'
import { promise } from '../../support/promise.ts'
import { halves } from './shards.ts'

const section = (more = '') => `[shard]\nid = "s3"\nmap = "shards.toml"\n${more}`
const reading = (map: string | undefined) => (path: string) =>
  map === undefined || path !== 'shards.toml' ? undefined : { text: map, mode: 0o644 }
const problems = (fileText: string, map: string | undefined = halves) =>
  problemsOf({ fileText, readFile: reading(map) })
const inMap = (map: string) => problems(section(), map)

describe('a shard in the configuration', () => {
  test('knows all shards, and which of them has a slot', () => {
    const loaded = load({ fileText: section('slots = "0-511"'), readFile: reading(halves) })
    if ('problems' in loaded) throw new Error(loaded.problems.join())
    const shard = shardAmong('s3', loaded.config.shards)
    expect([shard.of(0), shard.of(511), shard.of(512), shard.of(1023)]).toEqual([
      ...['s3', 's3', 's4', 's4'],
    ])
    expect(shard.all.map(({ id, url }) => [id, url])).toEqual([
      ['s3', 'http://127.0.0.1:3'],
      ['s4', undefined],
    ])
  })

  test('is absent unless it is set', () => {
    const loaded = load()
    expect('config' in loaded && loaded.config.shards).toEqual([])
  })

  test.each([
    ['[shard]\nid = "s3"', 'shard.id and shard.map belong together: set both, or neither'],
    ['[shard]\nslots = "0-3"', 'shard.id and shard.map belong together: set both, or neither'],
    ['[shard]\nid = "3s"\nmap = "shards.toml"', /shard\.id must be two characters: a letter, then/],
    ['[shard]\nid = "sl"\nmap = "shards.toml"', /shard\.id must be two characters/],
    [
      '[shard]\nid = "s5"\nmap = "shards.toml"',
      /"s5", which shards\.toml does not name; add \[s5\]/,
    ],
    [section('slots = "0-510"'), /shards\.toml gives s3 the slots "0-511": make them the same/],
    [section('slots = "0-1024"'), /shard\.slots must be slots like "256-383"/],
    [section('slots = "9-3"'), /shard\.slots must be slots like/],
  ])('is refused as %j, with what to do', (text, words) => {
    const [problem] = problems(text)
    if (typeof words === 'string') expect(problem).toBe(words)
    else expect(problem).toMatch(words)
  })

  promise`Q1`
  test('is refused without its file, or over one that is wrong, by the line', () => {
    expect(problemsOf({ fileText: section() })[0]).toMatch(
      /^shards\.toml: the file of all shards cannot be read: it is not there/,
    )
    expect(inMap('[s3\n')[0]).toMatch(/^shards\.toml: 1:/)
    expect(inMap(`${halves}slot = 3`)[0]).toBe(
      'shards.toml: unknown key s4.slot; did you mean slots?',
    )
    expect(inMap(halves.replace('512-1023', '500-1023'))).toEqual([
      'shards.toml: s3 and s4 both have the slots 500-511; each slot has one shard',
    ])
    expect(inMap(halves.replace('512-1023', '520-1023'))).toEqual([
      'shards.toml: no shard has the slots 512-519; the shards together have 0 to 1023',
    ])
    expect(inMap(halves.replace('[s4]', '[22]'))[0]).toMatch(/the id of a shard must be two/)
    expect(inMap(halves.replace('"512-1023"', '512'))[0]).toMatch(/s4\.slots must be slots like/)
    expect(inMap(halves.replace('http:', 'ftp:'))[0]).toMatch(/s3\.url must be an http/)
  })
})

describe('slots', () => {
  test.each([
    ['', ''],
    ['7', '7'],
    ['3-5,1, 2', '1-5'],
    ['0-1023', '0-1023'],
    ['9, 0-3', '0-3, 9'],
  ])('%j are read and written', (text, written) => {
    expect(slotsText(parseSlots(text) ?? [])).toBe(written)
  })

  test.each(['-1', '1024', '1-', '1,,2', 'a', '1-2, 2', '5-4', '0x10', ','])(
    '%j are none',
    (text) => expect(parseSlots(text)).toBeUndefined(),
  )

  test.each([
    ['0-511', '([0-9a-f][0-9a-z])'],
    ['512-1023', '([g-z][0-9a-z])'],
    ['0-1023', '([0-9a-z][0-9a-z])'],
    ['256-383', '([89ab][0-9a-z])'],
    ['0-9, 12', '(0[0-9c])'],
    ['7', '(07)'],
    ['', '($^)'],
    ['0-99, 1000-1023', undefined],
    ['3, 5, 31-33, 500-900, 1023', undefined],
  ])('%j are found by a pattern, and no others', (text, pattern) => {
    const slots = parseSlots(text) ?? []
    if (pattern !== undefined) expect(prefixPattern(slots)).toBe(pattern)
    const matches = new RegExp(`^${prefixPattern(slots)}$`)
    const all = Array.from({ length: slotCount }, (_, slot) => slot)
    expect(all.filter((slot) => matches.test(markOf(slot)))).toEqual(slots)
  })
})
