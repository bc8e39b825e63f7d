/** Writes an example as a curl command. */
import {
  type Example,
  hasSession,
  isKeyed,
  isOperated,
  methodOf,
  type Operation,
  pathOf,
} from '../../web/reference/operation.ts'

/**
 * An example as a command for a POSIX shell. The key is in the environment and the session's cookie
 * in a file, never in the line.
 */
export function curlOf(operation: Operation, example: Example, baseUrl: string): string {
  const method = methodOf(operation)
  const { body, headers = {} } = example
  const address = quoted(baseUrl + addressOf(operation, example))
  const parts = [
    `curl ${methodFlag(method, example)}${address}`,
    ...(isKeyed(operation) ? ['-H "Authorization: Bearer $COUNTERFOIL_KEY"'] : []),
    ...(isOperated(operation) ? ['-H "Authorization: Bearer $COUNTERFOIL_OPERATOR"'] : []),
    ...cookieFlags(operation),
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(body))}`]),
    ...Object.entries(example.form ?? {}).map(
      ([name, value]) => `--data-urlencode ${quoted(`${name}=${value}`)}`,
    ),
  ]
  return parts.join(' \\\n  ')
}

/** The sign-in writes its cookies into a file; what needs a session reads them from there. */
function cookieFlags(operation: Operation): string[] {
  if (hasSession(operation)) return ['-b session.txt']
  return pathOf(operation).startsWith('/api/') ? ['-b session.txt -c session.txt'] : []
}

/** Defaults of curl are left out. */
function methodFlag(method: string, { body, form }: Example): string {
  const usual = body === undefined && form === undefined ? 'GET' : 'POST'
  return method === usual ? '' : `-X ${method} `
}

/** The path and the query of an example. */
function addressOf(operation: Operation, { path = {}, query }: Example): string {
  const filled = pathOf(operation).replace(/:(\w+)/g, (_, name: string) =>
    encodeURIComponent(path[name] ?? ''),
  )
  const search = new URLSearchParams(query).toString()
  return search === '' ? filled : `${filled}?${search}`
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
