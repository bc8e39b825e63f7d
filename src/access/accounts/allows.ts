/** Tells whether a role may call a route, by the right that the mounted route names. */
import { type Actor, may, type Right } from '../../kernel/acting.ts'

/** A mounted route of the dashboard: `/dashboard/keys/:id`. */
export type GuardedRoute = { method: string; path: string; right: Right }

/** A path that no guarded route has is not for this to decide. */
export function allowsBy(routes: readonly GuardedRoute[]) {
  const known = routes.map((route) => ({ ...route, parts: partsOf(route.path) }))
  return (acting: Actor, method: string, address: string): boolean => {
    const parts = partsOf(address.replace(/[?#].*$/s, ''))
    const fit = known.filter((one) => one.method === method && isFit(one.parts, parts))
    if (isOfBranch(acting, method, parts)) return false
    // A written part wins over a parameter, as in the router.
    const [first] = fit.toSorted((a, b) => paramsOf(a.path) - paramsOf(b.path))
    return first === undefined || may(acting, first.right)
  }
}

/** The top of a developer's branch is read by the developer and changed by owners. */
const isOfBranch = ({ branch }: Actor, method: string, parts: readonly string[]): boolean => {
  if (branch === undefined || !parts.includes(branch)) return false
  return method !== 'GET' || /^(revoke|rotate)$/.test(parts.at(-1) ?? '')
}

const partsOf = (path: string): string[] => path.split('/').slice(1)

const paramsOf = (path: string): number => path.split(':').length

const isFit = (route: readonly string[], parts: readonly string[]): boolean =>
  route.length === parts.length &&
  route.every((part, i) => part.startsWith(':') || part === parts[i])
