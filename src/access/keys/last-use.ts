/** When keys were last used, as of this moment: for questions that cannot be taken back. */
import type { Deps } from '../../app/deps-port.ts'
import type { KeyRow } from '../../storage/db/schema/schema.ts'

/**
 * These keys with their true last use. Uses reach the rows within a minute, so the last run of each
 * is looked at too: it may have begun on another node, or a moment ago.
 */
export async function withLastUse(
  { keys, runs }: Pick<Deps, 'keys' | 'runs'>,
  rows: readonly KeyRow[],
): Promise<KeyRow[]> {
  await keys.writeUses()
  const newest = { limit: 1, after: undefined }
  const found = rows.map(async ({ id, accountId }) => {
    const [row, { items }] = await Promise.all([
      keys.find(id),
      runs.listShown({ account: accountId }, { keyId: id }, newest),
    ])
    return Math.max(row?.lastUsedAt ?? 0, items.at(0)?.run.createdAt ?? 0)
  })
  const uses = await Promise.all(found)
  return rows.map((row, i) => ({ ...row, lastUsedAt: uses[i] || null }))
}
