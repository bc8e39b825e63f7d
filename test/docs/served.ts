import type { AnyElysia } from 'elysia'
import { isOpenToAnyOrigin } from '../../src/web/http/methods.ts'
import { isForFewPrograms, isForPrograms } from '../../src/web/http/paths.ts'

/**
 * Whether a route is part of the API: what programs and supervisors ask for, what the dashboard
 * calls, and what scripts of any origin may read. Other routes are pages, their files and forms.
 * `/log` has the form of tiled logs, which docs/trust.md names: its answers are text and bytes.
 */
export const isApiRoute = ({ method, path, hooks }: AnyElysia['routes'][number]): boolean =>
  method !== 'ALL' &&
  path !== '/log/*' &&
  (isForPrograms(path) ||
    isForFewPrograms(path) ||
    path.startsWith('/api/') ||
    isOpenToAnyOrigin(hooks))
