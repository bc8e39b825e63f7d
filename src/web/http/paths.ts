/** Tells from the path of a request who asks for it. */

/**
 * Whether a URL is of programs and supervisors: paths of the API and of others like it, the log
 * and signs of life.
 */
export function isForPrograms(url: string): boolean {
  const start = pathStart(url)
  return forPrograms.test(url.slice(start, start + 16))
}

/**
 * Whether a URL is of what only programs ask for, and seldom: it is mounted with the pages, but its
 * errors are JSON, also to a client that asks for HTML.
 */
export function isForFewPrograms(url: string): boolean {
  const start = pathStart(url)
  return forFewPrograms.test(url.slice(start, start + 16))
}

/** The index of the path in a request's URL; without a valid Host, Bun gives the path alone. */
export const pathStart = (url: string): number => (url.startsWith('/') ? 0 : url.indexOf('/', 8))

const forPrograms = /^\/(v1|v1beta|v2|openai|mcp|log|liabilities|livez|readyz)(?![\w-])/
const forFewPrograms = /^\/(operator\/v1|leaks)(?![\w-])/
