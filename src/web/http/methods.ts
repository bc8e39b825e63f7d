/** CORS and allowed methods. */
import type { AnyElysia, Context } from 'elysia'
import { Refusal } from '../../kernel/refusal.ts'

/** Headers that let scripts of any web page read an answer (CORS). */
export const openHeaders = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'x-request-id, x-receipt-id, etag, retry-after, retry-after-ms',
}

const allowAnyOrigin = ({ set }: Pick<Context, 'set'>): void => {
  set.headers['access-control-allow-origin'] = openHeaders['access-control-allow-origin']
  set.headers['access-control-expose-headers'] = openHeaders['access-control-expose-headers']
}

/**
 * The hook of a route that any web page may read: keyless `/v1` GETs and POST /v1/receipts/verify.
 * `.get('/v1/status', () => …, openToAnyOrigin)`. Never with credentials.
 */
export const openToAnyOrigin = { transform: allowAnyOrigin }

/**
 * Call it after every route is mounted, and again when more came after the `known` first ones.
 * Gives each path an answer for the methods it does not take: 405 with Allow, before any key is
 * looked at, or 204 to a preflight of an open route.
 * @throws Error naming a route that lets Elysia read its body: the key's guard must come first.
 */
export function methodNotAllowed(app: AnyElysia, known = 0): void {
  for (const [shape, routes] of byShape(app.routes.slice(known))) {
    const methods = new Set(routes.map((route) => route.method))
    if (methods.has('ALL')) continue
    const open = routes
      .filter((route) => isOpenToAnyOrigin(route.hooks))
      .map((route) => route.method)
    if (methods.has('GET')) methods.add('HEAD')
    if (open.length > 0) methods.add('OPTIONS')
    const allow = [...methods].sort().join(', ')
    const message = `Send ${[...methods].filter(isSent).sort().join(' or ')} to this path.`
    app.all(shape, ({ request, set }) => {
      if (request.method !== 'OPTIONS' || open.length === 0) {
        throw new Refusal('method_not_allowed', { message, headers: { allow } })
      }
      Object.assign(set.headers, preflightHeaders(open), { allow })
      set.status = 204
    })
  }
}

const isSent = (method: string): boolean => method !== 'HEAD' && method !== 'OPTIONS'

type Route = AnyElysia['routes'][number]

/** Routes that differ in method and parameter names only, under one path: `/v1/keys/:1/revoke`. */
function byShape(all: readonly Route[]): Map<string, Route[]> {
  const shapes = new Map<string, Route[]>()
  for (const route of all) {
    assertBodyUntouched(route)
    const shape = route.path
      .split('/')
      .map((part, i) => (part.startsWith(':') ? `:${i}` : part))
      .join('/')
    shapes.set(shape, [...(shapes.get(shape) ?? []), route])
  }
  return shapes
}

function assertBodyUntouched({ method, path, hooks }: Route): void {
  if (method === 'GET' || method === 'HEAD' || method === 'OPTIONS') return
  const parse: unknown[] = [hooks.parse].flat()
  const only = parse.length === 1 ? parse[0] : undefined
  if (only === 'none' || (isContainer(only) && only.fn === 'none')) return
  throw new Error(`${method} ${path} must say parse: 'none' and read its body by readJson`)
}

/** Whether a route has {@link openToAnyOrigin} among its hooks. */
export function isOpenToAnyOrigin(hooks: { transform?: unknown }): boolean {
  return [hooks.transform]
    .flat()
    .some((one) => one === allowAnyOrigin || (isContainer(one) && one.fn === allowAnyOrigin))
}

const isContainer = (hook: unknown): hook is { fn: unknown } =>
  typeof hook === 'object' && hook !== null && 'fn' in hook

const preflightHeaders = (methods: string[]) => ({
  'access-control-allow-origin': '*',
  'access-control-allow-methods': methods.sort().join(', '),
  // The wildcard covers every header but this one.
  'access-control-allow-headers': 'authorization, *',
  'access-control-max-age': '7200',
})
