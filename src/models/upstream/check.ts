/** Asks an upstream which models it has. */
import { request } from './http.ts'
import { UpstreamFailure } from './upstream.ts'

/**
 * How an upstream answered when it was asked which models it has, which costs nothing.
 * `unlisted`: it is there, but does not tell. `denied`: it does not take our key.
 */
export type UpstreamCheck = {
  status: 'ok' | 'unlisted' | 'denied' | 'unreachable' | 'timeout' | 'error'
  /** Its names of its models; null where it does not tell. */
  models: string[] | null
}

type Asked = { base_url: string; api_key: string | undefined }

const limits = {
  firstByteMs: 10_000,
  idleMs: 10_000,
  totalMs: 20_000,
  answerBytes: 16 * 1024 * 1024,
  streamBytes: 0,
}

/** Asks `GET …/models` of a server that speaks the OpenAI API. */
export async function checkUpstream({ base_url, api_key }: Asked): Promise<UpstreamCheck> {
  const url = new URL(base_url)
  url.pathname = `${url.pathname.replace(/(?<!\/)\/+$/, '')}/models`
  const headers = {
    'user-agent': 'counterfoil',
    ...(api_key === undefined ? {} : { authorization: `Bearer ${api_key}` }),
  }
  const { signal } = new AbortController()
  try {
    const answer = await request({ url: url.href, method: 'GET', headers, signal, limits })
    const { status } = answer
    if (status === 401 || status === 403) return stop(answer, 'denied')
    if (status === 404 || status === 405) return stop(answer, 'unlisted')
    if (status !== 200) return stop(answer, 'error')
    const models = namesIn(await answer.text())
    return { status: models ? 'ok' : 'unlisted', models }
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error
    return { status: statuses[error.reason] ?? 'error', models: null }
  }
}

const statuses: Partial<Record<UpstreamFailure['reason'], UpstreamCheck['status']>> = {
  unreachable: 'unreachable',
  timeout: 'timeout',
  too_long: 'timeout',
}

function stop(answer: { stop(): void }, status: UpstreamCheck['status']): UpstreamCheck {
  answer.stop()
  return { status, models: null }
}

/** The ids of a list in OpenAI's shape; null when it is none. */
function namesIn(text: string): string[] | null {
  try {
    const { data } = JSON.parse(text)
    return data.flatMap(({ id }: { id: unknown }) => (typeof id === 'string' ? [id] : []))
  } catch {
    return null
  }
}
