/** Says what to ask for where a path of an API is not served. */

/** Paths of OpenAI's and Anthropic's APIs that stand for more than runs of models. */
const foreign = new RegExp(
  `^/v1/(${[
    'images|audio|files|uploads|batches|completions|complete|fine_tuning|assistants|threads',
    'vector_stores|videos|realtime|moderations|organizations|skills',
  ].join('|')})(/|$)`,
)

/** Paths that agents ask for when their base URL lacks its `/v1`, or has it twice. */
const served = /^\/(chat\/completions|messages|responses|embeddings|models|runs)(?:\/|$)/

const routes =
  'POST /v1/chat/completions, /v1/messages, /v1/responses, /v1/embeddings and /v1/runs, ' +
  'GET /v1/models. All are in /docs.'

/**
 * The words of a 404; undefined where the ordinary ones say as much. They repeat only the parts of
 * a path that this file lists, because a path can hold a secret.
 */
export function missingWords(pathname: string): string | undefined {
  const other = foreign.exec(pathname)?.[1]
  if (other !== undefined) return `/v1/${other} is not served here. There is ${routes}`
  const bare = served.exec(pathname)?.[1]
  if (bare !== undefined) {
    return `There is no /${bare}, but there is /v1/${bare}: end the base URL in /v1.`
  }
  if (/^\/v1\/v1(\/|$)/.test(pathname)) {
    return 'The path begins with /v1/v1: your client adds a /v1. Leave it out of the base URL.'
  }
  return /^\/v1(\/|$)/.test(pathname) ? `There is no such path. There is ${routes}` : undefined
}
