/** Reads the file of all shards that a command names. */
import { readFileSync } from 'node:fs'
import { readShards } from '../config/shard-map.ts'
import type { ShardEntry } from '../kernel/shard.ts'
import { Exit, exitCodes } from './context.ts'

/** All shards of a file. @throws Exit 2 that names what is wrong with it */
export function shardsOf(path: string): ShardEntry[] {
  const problems: string[] = []
  const shards = readShards(path, readText(path), problems)
  if (problems.length > 0) throw new Exit(exitCodes.usage, problems.join('\n'))
  return shards
}

/** Those of them with their URLs. @throws Exit 2 that names a shard without one */
export function servedShardsOf(path: string): { id: string; url: string }[] {
  return shardsOf(path).map(({ id, url }) => {
    if (url !== undefined) return { id, url }
    throw new Exit(exitCodes.usage, `${path}: ${id}.url is missing: where does that shard answer?`)
  })
}

function readText(path: string): { text: string } | { unreadable: string } | undefined {
  try {
    return { text: readFileSync(path, 'utf8') }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOENT' ? undefined : { unreadable: `it cannot be read (${code})` }
  }
}
