/** Buys access tokens with the key of a service account of Google (RFC 7523). */
import { sign } from 'node:crypto'
import type { Clock } from '../../kernel/clock.ts'
import { parseObject } from '../../kernel/json-object.ts'
import type { ServiceAccount } from './credentials.ts'
import { request } from './http.ts'
import type { RequestSigner } from './signer.ts'
import { UpstreamFailure } from './upstream.ts'

const scope = 'https://www.googleapis.com/auth/cloud-platform'
const grantType = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
/** How long what is signed is good for, in s: the most that Google takes. */
const assertionSeconds = 3600
/** How long before its end a token is replaced, in ms, at most a half of its life. */
const aheadMs = 5 * 60_000
/** How long a failure is told before the token server is asked again, in ms. */
const restMs = 5000

const limits = {
  firstByteMs: 10_000,
  idleMs: 10_000,
  totalMs: 15_000,
  answerBytes: 64 * 1024,
  streamBytes: 0,
}

/** How long a token is kept although a server refuses it, in ms: a newer one is refused as well. */
const settledMs = 30_000
/** Tokens whose texts are cut from a server's words: the ones before may still be good. */
const mostRecent = 3

type Token = { text: string; boughtAt: number; freshUntil: number; until: number }

/** One token for all requests; it is replaced by one question, however many wait for it. */
export function googleSigner(account: ServiceAccount, clock: Pick<Clock, 'now'>): RequestSigner {
  let token: Token | undefined
  let asking: Promise<Token> | undefined
  let recent: string[] = []
  let failed: { failure: UpstreamFailure; until: number } | undefined

  const replace = async (): Promise<Token> => {
    try {
      token = await buy(account, clock)
      recent = [token.text, ...recent].slice(0, mostRecent)
      failed = undefined
      return token
    } catch (error) {
      const failure = error instanceof UpstreamFailure ? error : new UpstreamFailure('denied')
      failed = { failure, until: clock.now() + restMs }
      throw failure
    } finally {
      asking = undefined
    }
  }
  const current = async (): Promise<Token> => {
    const now = clock.now()
    const old = token && now < token.until ? token : undefined
    if (old && now < old.freshUntil) return old
    if (failed && now < failed.until) {
      if (old) return old
      throw failed.failure
    }
    asking ??= replace()
    if (!old) return await asking
    // The request does not wait for the next token while this one is good.
    asking.catch(() => {})
    return old
  }
  return {
    async headersFor() {
      return { authorization: bearer(await current()) }
    },
    refused({ authorization }) {
      if (!token || authorization !== bearer(token)) return
      if (clock.now() - token.boughtAt >= settledMs) token = undefined
    },
    secrets: () => [account.privateKey, ...recent],
  }
}

/** @throws UpstreamFailure `denied` where the key is refused, and why else there is no token */
async function buy(account: ServiceAccount, clock: Pick<Clock, 'now'>): Promise<Token> {
  const begun = clock.now()
  const form = new URLSearchParams({
    grant_type: grantType,
    assertion: assertionOf(account, begun),
  })
  const answer = await request({
    url: account.tokenUrl,
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'user-agent': 'counterfoil' },
    body: form.toString(),
    signal: new AbortController().signal,
    limits,
    keepalive: false,
  })
  const { status } = answer
  if (status !== 200) {
    answer.stop()
    throw new UpstreamFailure(status < 500 && status !== 429 ? 'denied' : 'error', { status })
  }
  const { access_token: text, expires_in: seconds } = parseObject(await answer.text()) ?? {}
  if (typeof text !== 'string' || !/^[\x21-\x7e]+$/.test(text)) throw new UpstreamFailure('error')
  const lifeMs = typeof seconds === 'number' && seconds > 0 ? 1000 * seconds : 0
  const until = begun + lifeMs
  return { text, boughtAt: begun, until, freshUntil: until - Math.min(aheadMs, lifeMs / 2) }
}

function assertionOf({ email, privateKey, keyId, tokenUrl }: ServiceAccount, now: number): string {
  const iat = Math.floor(now / 1000)
  const header = { alg: 'RS256', typ: 'JWT', ...(keyId === undefined ? {} : { kid: keyId }) }
  const claims = { iss: email, scope, aud: tokenUrl, iat, exp: iat + assertionSeconds }
  const signed = `${encode(header)}.${encode(claims)}`
  return `${signed}.${sign('RSA-SHA256', Buffer.from(signed), privateKey).toString('base64url')}`
}

const bearer = ({ text }: Token): string => `Bearer ${text}`

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
