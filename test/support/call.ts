/** Asks for a path: with a key, and JSON as a POST. */
export type Call = (
  path: string,
  init?: RequestInit & { key?: string | undefined; json?: unknown },
) => Promise<Response>

/** The same at an origin. */
export function callAt(
  origin: string,
  path: string,
  { key, json, ...rest }: NonNullable<Parameters<Call>[1]> = {},
): Promise<Response> {
  const headers = new Headers(rest.headers)
  if (key) headers.set('authorization', `Bearer ${key}`)
  if (json === undefined) return fetch(origin + path, { ...rest, headers })
  if (!headers.has('content-type')) headers.set('content-type', 'application/json')
  return fetch(origin + path, { method: 'POST', ...rest, headers, body: JSON.stringify(json) })
}
