/** Finds the upstreams of found servers in the configuration, and makes those that are missing. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { upstreamEntry } from '../../app/providers/provider-entries.ts'
import type { StoredKey } from '../../app/providers/write-change.ts'
import type { TomlTable } from '../../models/price-files/price-entry.ts'
import type { Deployment, ServerKey } from './found.ts'

/** The upstreams that the configuration has, and those that are added to them. */
export class NewUpstreams {
  readonly added: TomlTable[] = []
  /** Files of keys that are to be written. */
  readonly keys: StoredKey[] = []

  constructor(
    private readonly present: readonly TomlTable[],
    private readonly data: string,
  ) {}

  /** The id of the upstream that is there for a deployment; undefined for a new one. */
  find(deployment: Deployment): string | undefined {
    const wanted = made('', deployment)['base_url']
    const same = [...this.present, ...this.added].find(
      (one) => one['base_url'] === wanted && this.usesSame(one, deployment.keys),
    )
    return same && String(same['id'])
  }

  /** The id of the upstream of a deployment, which is added unless it is there. */
  idOf(deployment: Deployment): string {
    const known = this.find(deployment)
    if (known !== undefined) return known
    const { provider, keys } = deployment
    const id = this.freeId(provider.id)
    const places = keys.map((key, at) => this.placeOf(id, key, at))
    const { auth, ...entry } = made(id, deployment)
    const [first] = places
    const own: TomlTable = places.length > 1 ? { keys: places } : first ? soleKey(first) : {}
    const isKeyless = auth === undefined || (auth === 'none' && places.length > 0)
    this.added.push({ ...entry, ...(isKeyless ? {} : { auth }), ...own })
    return id
  }

  private placeOf(id: string, key: ServerKey, at: number): KeyPlace {
    if ('variable' in key) return { env: key.variable }
    const file = join(this.data, 'keys', at === 0 ? id : `${id}-${at + 1}`)
    this.keys.push({ file, secret: key.secret })
    return { file }
  }

  private usesSame(one: TomlTable, keys: readonly ServerKey[]): boolean {
    const listed = (Array.isArray(one['keys']) ? one['keys'] : []) as TomlTable[]
    const single = { env: one['api_key_env'], file: one['api_key_file'] }
    const places = listed.length > 0 ? listed : single.env || single.file ? [single] : []
    return (
      places.length === keys.length &&
      places.every((place, at) => {
        const key = keys[at]
        if (!key) return false
        return 'variable' in key
          ? place['env'] === key.variable
          : this.secretIn(String(place['file'] ?? '')) === key.secret
      })
    )
  }

  private secretIn(file: string): string | undefined {
    const fresh = this.keys.find((key) => key.file === file)
    if (fresh || file === '') return fresh?.secret
    try {
      return readFileSync(file, 'utf8').trim()
    } catch {
      return undefined
    }
  }

  private freeId(id: string): string {
    const taken = new Set([...this.present, ...this.added].map((one) => String(one['id'])))
    const files = new Set(this.keys.map(({ file }) => file))
    const isFree = (one: string) => {
      const file = join(this.data, 'keys', one)
      return !taken.has(one) && !files.has(file) && !existsSync(file)
    }
    if (isFree(id)) return id
    for (let at = 2; ; at++) if (isFree(`${id}-${at}`)) return `${id}-${at}`
  }
}

type KeyPlace = { env: string } | { file: string }

const soleKey = (place: KeyPlace): TomlTable =>
  'env' in place ? { api_key_env: place.env } : { api_key_file: place.file }

const made = (id: string, { provider, baseUrl }: Deployment): TomlTable =>
  upstreamEntry(provider, { id, settings: {}, baseUrl, key: undefined })
