/** Says what to ask for where a path of an API is not served. */

/** Paths of OpenAI's and Anthropic's APIs that stand for more than runs of models. */
const foreign = new RegExp(
  `^/v1/(${[
    'images|audio|files|uploads|batches|completions|complete|fine_tuning|assistants|threads',
    'vector_stores|videos|realtime|moderations|organizations|skills|containers|conversations',
  ].join('|')})(/|$)`,
)

const names = 'chat/completions|messages/count_tokens|messages|responses|embeddings|models|runs'
/** Paths that agents ask for when their base URL lacks its `/v1`. */
const bareStart = new RegExp(`^/(?:${names})(?:/|$)`)
const served = new RegExp(`/(${names})(?=/|$)`, 'g')

/** Paths that programs ask for, also those of other gateways: a browser has no page there. */
const ofPrograms = /^\/(v1|v1beta|v2|openai|api)(\/|$)|\/v1\//

/** A word of another API that a route of ours takes for the id behind its path. */
const noId = /^\/v1\/(responses\/[^/]+|models\/.+:\w+)$/

const routes =
  'POST /v1/chat/completions, /v1/messages, /v1/responses, /v1/embeddings and /v1/runs, ' +
  'GET /v1/models. All are in /docs.'
const none = `There is no such path. There is ${routes}`

/**
 * The words of a 404; undefined where the ordinary ones say as much. They repeat only the parts of
 * a path that this file lists, because a path can hold a secret.
 */
export function notFoundHelp(pathname: string): string | undefined {
  const other = foreign.exec(pathname)?.[1]
  if (other !== undefined) return `/v1/${other} is not served here. There is ${routes}`
  const path = pathname.replaceAll(/\/{2,}/g, '/').replace(/(.)\/$/, '$1')
  const isBare = bareStart.test(path)
  if (!isBare && !ofPrograms.test(pathname)) return undefined
  const right = [...path.matchAll(served)].at(-1)?.[1]
  if (right === undefined) return none
  if (isBare) return `There is no /${right}, but there is /v1/${right}: end the base URL in /v1.`
  const there = `There is /v1/${right}`
  if (path === `/v1/${right}`) return `${there}: ask for it without any other slash.`
  if (path.startsWith('/v1/v1/')) {
    const twice =
      'The path begins with /v1/v1: your client adds a /v1. Leave it out of the base URL.'
    return `${twice} ${there}.`
  }
  return `There is no such path. ${there}: the base URL is the origin with /v1, or without.`
}

/** Helps with a path that only seems to exist, because a route takes its last word for an id. */
export const methodHelp = (pathname: string): string | undefined =>
  noId.test(pathname) ? none : undefined
