import type { Json } from '../kernel/canonical.ts'
import { type Example, methodOf, type Operation, pathOf } from './operation.ts'

/** An example as a command for a POSIX shell. The key is in the environment, never in the line. */
export function curlOf(operation: Operation, example: Example, baseUrl: string): string {
  const method = methodOf(operation)
  const { body } = example
  const parts = [
    `curl ${methodFlag(method, body)}${quoted(baseUrl + addressOf(operation, example))}`,
    ...(needsKey(operation) ? ['-H "Authorization: Bearer $COUNTERFOIL_KEY"'] : []),
    ...(body === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(body))}`]),
  ]
  return parts.join(' \\\n  ')
}

export const needsKey = ({ key }: Operation): boolean => key !== 'none' && key !== 'optional'

/** What curl does by itself need not be said. */
function methodFlag(method: string, body: Json | undefined): string {
  const usual = body === undefined ? 'GET' : 'POST'
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
