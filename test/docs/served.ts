import type { AnyElysia } from 'elysia'
import { isForFewPrograms, isForPrograms } from '../../src/web/http/lazy-mount.ts'
import { isOpenToAnyOrigin } from '../../src/web/http/methods.ts'

/**
 * Whether a route is part of the API: what programs and supervisors ask for, what the dashboard
 * calls, and what scripts of any origin may read. All else is a page, or a file or form of one.
 */
export const isApiRoute = ({ method, path, hooks }: AnyElysia['routes'][number]): boolean =>
  method !== 'ALL' &&
  (isForPrograms(path) ||
    isForFewPrograms(path) ||
    path.startsWith('/api/') ||
    isOpenToAnyOrigin(hooks))
