/** Requests whose key is not sent itself: it signs them, or buys tokens that are sent. */
import type { Clock } from '../../kernel/clock.ts'
import type { StopSignal } from '../../kernel/stop.ts'
import { isSigning, readAwsKey, readServiceAccount, regionIn } from './credentials.ts'
import type { Wire, WireAnswer, WireRequest } from './http.ts'
import type { RequestSigner } from './signer.ts'
import { UpstreamFailure } from './upstream.ts'

type SignerNeeds = {
  auth?: string | undefined
  apiKey?: string | undefined
  baseUrl: string
  /** Region and service of AWS, which the signature names. */
  region?: string | undefined
  service?: string | undefined
  clock: Pick<Clock, 'now'>
}

/**
 * Undefined where a key is sent as it is. The code that signs is loaded with the first request.
 * @throws Error for a key that cannot sign: a fault of the configuration
 */
export function openSigner(needs: SignerNeeds): RequestSigner | undefined {
  const { auth, apiKey, baseUrl, clock } = needs
  if (!isSigning(auth) || apiKey === undefined) return undefined
  if (auth === 'sigv4') {
    const key = readAwsKey(apiKey)
    const region = needs.region ?? regionIn(baseUrl)
    if (!key || region === undefined) throw new Error('the key or the region of AWS is wrong')
    const { service = 'bedrock' } = needs
    return lazySigner(async () =>
      (await import('./aws-signer.ts')).awsSigner({ key, region, service, clock }),
    )
  }
  const account = readServiceAccount(apiKey)
  if (!account) throw new Error('the key is not the JSON of a service account')
  return lazySigner(async () => (await import('./google-tokens.ts')).googleSigner(account, clock))
}

function lazySigner(load: () => Promise<RequestSigner>): RequestSigner {
  let loading: Promise<RequestSigner> | undefined
  let loaded: RequestSigner | undefined
  return {
    async headersFor(request) {
      loading ??= load().catch((error) => {
        loading = undefined
        throw error
      })
      loaded ??= await loading
      return loaded.headersFor(request)
    },
    refused: (headers) => loaded?.refused(headers),
    secrets: () => loaded?.secrets() ?? [],
  }
}

/** Asks with headers that prove the request. */
export async function askSigned(
  signer: RequestSigner,
  { wire, url }: { wire: Wire; url: string },
  request: WireRequest,
): Promise<WireAnswer> {
  const { body, signal } = request
  const more = await unlessStopped(signer.headersFor({ method: 'POST', url, body }), signal)
  const answer = await wire.ask({ ...request, headers: { ...request.headers, ...more } })
  if (answer.status === 401) signer.refused(more)
  return answer
}

/** A token is bought for all callers: one that leaves does not wait, and does not stop it. */
function unlessStopped<T>(promise: Promise<T>, signal: StopSignal): Promise<T> {
  return new Promise((done, failed) => {
    const onAbort = () => failed(new UpstreamFailure('aborted'))
    if (signal.aborted) {
      promise.catch(() => {})
      return onAbort()
    }
    signal.addEventListener('abort', onAbort, { once: true })
    promise.then(done, failed).finally(() => signal.removeEventListener('abort', onAbort))
  })
}
