/** `provider add --another-key`: one more key of an upstream that is there. */
import { rmSync } from 'node:fs'
import { sayingOf } from '../app/logging.ts'
import { keysOf, whyOneKey, withAnotherKey } from '../app/providers/another-key.ts'
import { keyFileFor, storeKey } from '../app/providers/key-file.ts'
import type { Config } from '../config/config.ts'
import type { TomlTable } from '../models/price-files/price-entry.ts'
import { Exit, exitCodes, printJson, say } from './context.ts'
import { writeText } from './model-changes.ts'
import { tellServer } from './tell-server.ts'

type KeyOptions = { anotherKey?: boolean; keyEnv?: string; dryRun?: boolean; json?: boolean }

type KeyOffer = {
  config: Config
  path: string
  /** The text of the file that the present entry is from. */
  text: string
  id: string
  present: TomlTable | undefined
  /** Undefined where the provider takes none. */
  key: string | undefined
}

/**
 * Adds a key where that is wished, once `test` has shown that it is good. Otherwise refuses one
 * that would be left unused, and returns false.
 * @throws Exit 2 that says what to do, Exit 1
 */
export async function tookKey(
  of: KeyOffer,
  wish: KeyOptions,
  test: () => Promise<unknown>,
): Promise<boolean> {
  if (!wish.anotherKey) {
    assertSameKey(of)
    return false
  }
  const { entry, key } = takingKey(of)
  await test()
  addKey(of, entry, key, wish)
  return true
}

const usage = (words: string) => new Exit(exitCodes.usage, words)

function takingKey({ id, present, key }: KeyOffer) {
  if (!present) throw usage(`"${id}" is not there yet: leave --another-key out.`)
  const why = whyOneKey(present)
  if (why !== undefined) throw usage(`"${id}" takes no second key, because ${why}.`)
  if (key === undefined) throw usage('This provider has no keys.')
  if (keysOf(present, process.env).includes(key)) throw usage(`"${id}" has this key already.`)
  return { entry: present, key }
}

function assertSameKey({ id, present, key }: KeyOffer): void {
  const there = present ? keysOf(present, process.env) : []
  if (key === undefined || there.length === 0 || there.includes(key)) return
  const why = `"${id}" has another key. Add this one beside it with --another-key, or make a second`
  throw usage(`${why} upstream with --id.`)
}

function addKey(
  { config, path, text, id }: KeyOffer,
  entry: TomlTable,
  key: string,
  { keyEnv: variable, dryRun, json }: KeyOptions,
): void {
  const file = variable === undefined ? keyFileFor(config.data, id) : undefined
  const kept = variable ?? file ?? ''
  if (dryRun) {
    say(`The key would be in ${kept}.`)
    return
  }
  const place = { ...(variable === undefined ? {} : { variable }), ...(file ? { file } : {}) }
  const fresh = withAnotherKey(text, entry, place)
  writeWithKey(file, key, () => writeText(path, fresh, text))
  const told = tellServer(config)
  if (json) printJson({ upstream: id, key: kept, server: told.status })
  else say(`"${id}" has one more key, in ${kept}, of weight 1. ${told.words}`)
}

/**
 * Stores a key before what names it is written: a configuration that names a missing key would stop
 * a server's next start. If that fails, the key is taken away again.
 */
export function writeWithKey(
  file: string | undefined,
  key: string | undefined,
  write: () => void,
): void {
  const isStored = file !== undefined && key !== undefined && keepKey(file, key)
  try {
    write()
  } catch (error) {
    if (isStored) rmSync(file, { force: true })
    throw error
  }
}

/** @throws Exit 1 when the folder or the file cannot be written, or another command wrote it */
function keepKey(file: string, key: string): true {
  try {
    storeKey(file, key)
    return true
  } catch (error) {
    const why = `${file} cannot be made for the key: ${sayingOf(error)}`
    throw new Exit(exitCodes.failed, `${why}. Nothing was changed.`)
  }
}
