/** Tells the nodes of a database which configuration each of them runs, as a digest. */
import type { Config } from '../config/config.ts'
import { stable } from '../config/model-text.ts'
import { sha256Hex } from '../kernel/hash.ts'
import type { Db } from '../storage/db/engine/db.ts'
import { dropFacts, readFactsOf, writeFact } from '../storage/db/sql/facts.ts'
import type { Deps } from './deps-port.ts'

/** Machines may have keys of their own. */
const secretParts = ['api_key', 'keys', 'secret_headers', 'is_proxied'] as const

/**
 * SHA-256 of what a configuration sells and from where: models, aliases, plans, and upstreams
 * without their keys. Nodes of one service should have the same.
 */
export function configDigest({ models, aliases, plans, upstreams }: Config): string {
  const servers = upstreams.map((one) =>
    Object.fromEntries(
      Object.entries(one).filter(([name]) => !secretParts.some((secret) => secret === name)),
    ),
  )
  return sha256Hex(stable({ models, aliases, plans, upstreams: servers }))
}

const prefix = 'config:'

/**
 * Writes down the digest of this node where it changed, notes those of `alive` in the health, and
 * forgets those of nodes that died.
 */
export async function shareConfigDigest(
  { health, settings }: Pick<Deps, 'health' | 'settings'>,
  db: Db,
  alive: readonly string[],
): Promise<void> {
  const { node, configDigest: own } = settings
  const found = await readConfigDigests(db)
  if (found.get(node) !== own) {
    await db.write(() => writeFact(db, prefix + node, own))
    found.set(node, own)
  }
  const dead = [...found.keys()].filter((one) => one !== node && !alive.includes(one))
  if (dead.length > 0) {
    await db.write((q) =>
      dropFacts(
        db,
        q,
        dead.map((one) => prefix + one),
      ),
    )
    for (const one of dead) found.delete(one)
  }
  health.configs = found
}

/** The digests of the nodes that said theirs, by node. */
export async function readConfigDigests(db: Db): Promise<Map<string, string>> {
  const found = await db.read((q) => readFactsOf(db, q, prefix))
  return new Map(found.map(({ name, value }) => [name.slice(prefix.length), value]))
}
