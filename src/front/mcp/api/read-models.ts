/** Reads the list of models as the page of it that an agent asked for. */
import type { Json } from '../../../kernel/canonical.ts'
import { matchesGlob } from '../../../kernel/glob.ts'
import { refuseField } from '../../../kernel/refusal.ts'
import type { ModelAnswer, ModelsAnswer } from '../../../models/shapes.ts'
import type { Arguments } from '../tool.ts'

const usualLimit = 50

/**
 * The models whose id, name or alias has the `filter` in it, or fits it where it is a glob; at most
 * `limit` of them, those behind the one that `cursor` names.
 * @throws Refusal 'invalid_request' for a cursor that names none of them
 */
export async function readModels(
  answer: Response,
  { filter = '', limit = usualLimit, cursor }: Arguments,
): Promise<Record<string, Json>> {
  const { data, price_list } = (await answer.json()) as ModelsAnswer
  const found = data.filter((model) => fits(model, String(filter).toLowerCase()))
  const at = cursor === undefined ? -1 : found.findIndex(({ id }) => id === cursor)
  if (cursor !== undefined && at < 0) {
    refuseField('cursor', 'Send next_cursor of the page before.')
  }
  const page = found.slice(at + 1, at + 1 + Number(limit))
  const hasMore = at + 1 + page.length < found.length
  const [first, last] = [page[0]?.id ?? null, page.at(-1)?.id ?? null]
  return {
    object: 'list',
    data: page as Json[],
    has_more: hasMore,
    first_id: first,
    last_id: last,
    next_cursor: hasMore ? last : null,
    price_list,
  }
}

function fits({ id, name, aliases = [] }: ModelAnswer, filter: string): boolean {
  const names = [id, name, ...aliases].map((one) => one.toLowerCase())
  return names.some((one) =>
    filter.includes('*') ? matchesGlob(filter, one) : one.includes(filter),
  )
}
