/** Tells the members of an answer that say nothing from those that are output. */
import type { Json } from '../kernel/canonical.ts'

/** Whether a value says nothing: servers write members they do not use in these ways. */
export function isEmpty(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === '') return true
  if (typeof value !== 'object') return false
  if (Array.isArray(value)) return value.length === 0
  for (const _ in value) return false
  return true
}
