import { keys } from './keys.ts'
import type { Group } from './row.ts'

/** All promises, in the order of the page. */
export const groups: readonly Group[] = [keys]
