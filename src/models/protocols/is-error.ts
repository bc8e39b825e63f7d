/** Tells an error from a member for one that is not used. */
import type { Json } from '../../kernel/canonical.ts'
import { isEmpty } from '../free-members.ts'

/** Servers write a member that they do not use as null, false, 0, '' or {}. */
export const isError = (error: Json | undefined): boolean =>
  error !== false && error !== 0 && !isEmpty(error)
