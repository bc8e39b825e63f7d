/** Says what to ask for where a path of an API is not served. */

/** Paths of OpenAI's and Anthropic's APIs that stand for more than runs of models. */
const foreign = new RegExp(
  `^/v1/(${[
    'images|audio|files|uploads|batches|completions|complete|fine_tuning|assistants|threads',
    'vector_stores|videos|realtime|moderations|organizations|skills',
  ].join('|')})(/|$)`,
)

/** Paths that agents ask for when their base URL lacks its `/v1`, or has it twice. */
const served = /^\/(chat\/completions|messages|responses|embeddings|models|runs)(\/|$)/

const routes =
  'POST /v1/chat/completions, /v1/messages, /v1/responses, /v1/embeddings and /v1/runs, ' +
  'GET /v1/models. All are in /docs.'

/** The words of a 404; undefined where the ordinary ones say as much. */
export function missingWords(pathname: string): string | undefined {
  if (foreign.test(pathname)) return `${quoted(pathname)} is not served here. There is ${routes}`
  if (served.test(pathname)) {
    return `There is no ${quoted(pathname)}, but there is /v1${pathname}: end the base URL in /v1.`
  }
  const twice = /^\/v1(\/v1\/.*)$/.exec(pathname)?.[1]
  if (twice !== undefined) {
    return `The base URL has /v1 where your client adds it too. Leave it out to reach ${twice}.`
  }
  if (/^\/v1(\/|$)/.test(pathname)) return `There is no ${quoted(pathname)}. There is ${routes}`
  return undefined
}

const quoted = (pathname: string): string => pathname.slice(0, 80)
