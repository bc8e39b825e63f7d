/** Items of a Responses request that mean something only where answers are stored. */
import type { Json } from '../../../kernel/canonical.ts'
import { isObject, type JsonObject } from '../../../kernel/json-object.ts'
import { refuseField } from '../../../kernel/refusal.ts'
import { textOf } from '../reading.ts'

/** A member of `include` that asks a server which stores nothing to seal its reasoning. */
export const sealedReasoning = 'reasoning.encrypted_content'

/** The name in `X-Counterfoil-Ignored` for reasoning that does not go on. */
export const reasoningItems = 'reasoning items'

/** Whether an item names reasoning by its id alone, as clients do that expect it to be stored. */
export const isReasoningReference = ({ type, id }: JsonObject): boolean =>
  type === 'item_reference' && textOf(id).startsWith('rs_')

/** Whether a server that stores nothing would look such an item up, and refuse the request. */
export function isUnstored(item: Json): boolean {
  if (!isObject(item)) return false
  const { type, encrypted_content: sealed, content } = item
  if (type !== 'reasoning') return isReasoningReference(item)
  return textOf(sealed) === '' && !(Array.isArray(content) && content.length > 0)
}

/** @throws Refusal `invalid_request` for an item that is named by its id alone */
export function refuseItemReference(item: Json, at: number): void {
  if (!isObject(item) || item['type'] !== 'item_reference') return
  refuseField(`input[${at}]`, 'Items are not stored here: set "store": false, or send it whole.')
}
