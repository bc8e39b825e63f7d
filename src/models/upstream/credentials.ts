/** Reads the keys that sign requests: of AWS, and of a service account of Google. */
import { isObject, parseObject } from '../../kernel/json-object.ts'

export type AwsKey = { accessKeyId: string; secretAccessKey: string; sessionToken?: string }

export type ServiceAccount = {
  email: string
  privateKey: string
  keyId: string | undefined
  tokenUrl: string
}

/** How a key is used that is not sent itself. */
export type SigningAuth = 'sigv4' | 'google'

export const isSigning = (auth: string | undefined): auth is SigningAuth =>
  auth === 'sigv4' || auth === 'google'

const id = /^[\w.-]{1,128}$/
const secret = /^[A-Za-z0-9/+=_-]{1,4096}$/

/** `ID:SECRET`, `ID:SECRET:SESSION_TOKEN`, or the first profile of a credentials file of AWS. */
export function readAwsKey(text: string): AwsKey | undefined {
  const named = (name: string) =>
    new RegExp(`^[ \\t]*${name}[ \\t]*=[ \\t]*(\\S+)`, 'm').exec(text)?.[1]
  const inFile = named('aws_access_key_id')
  const [accessKeyId = '', secretAccessKey = '', sessionToken, ...more] =
    inFile === undefined
      ? text.trim().split(':')
      : [inFile, named('aws_secret_access_key'), named('aws_session_token')]
  const isKey = id.test(accessKeyId) && secret.test(secretAccessKey) && more.length === 0
  if (!isKey || (sessionToken !== undefined && !secret.test(sessionToken))) return undefined
  return { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) }
}

/** The JSON of a key of a service account. */
export function readServiceAccount(text: string): ServiceAccount | undefined {
  const read = parseObject(text)
  if (!isObject(read)) return undefined
  const {
    client_email: email,
    private_key: privateKey,
    private_key_id: keyId,
    token_uri: tokenUrl = 'https://oauth2.googleapis.com/token',
  } = read
  if (typeof email !== 'string' || typeof privateKey !== 'string') return undefined
  if (typeof tokenUrl !== 'string' || !isTokenUrl(tokenUrl)) return undefined
  return { email, privateKey, keyId: typeof keyId === 'string' ? keyId : undefined, tokenUrl }
}

/** A signed claim buys tokens, so it goes over TLS, or to this machine. */
function isTokenUrl(text: string): boolean {
  const url = URL.parse(text)
  if (!url || url.username || url.password) return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && url.hostname === '127.0.0.1')
}

/** The region in the name of a host of AWS. */
export const regionIn = (baseUrl: string): string | undefined =>
  /\.([a-z]{2,}(?:-[a-z]+)+-\d+)\.(?:amazonaws\.com(?:\.cn)?|api\.aws)$/.exec(
    URL.parse(baseUrl)?.hostname ?? '',
  )?.[1]

type Signed = { auth?: string | undefined; base_url: string; region?: string | undefined }

/** Why an upstream cannot sign its requests, without its secret; undefined where it can. */
export function signingFault(
  { auth, base_url: baseUrl, region }: Signed,
  key: string | undefined,
): string | undefined {
  if (!isSigning(auth)) return region === undefined ? undefined : 'region is for auth = "sigv4"'
  if (auth === 'google') {
    if (key === undefined || readServiceAccount(key)) return undefined
    return 'its key must be the JSON of a key of a service account, with an https token_uri'
  }
  if (region === undefined && regionIn(baseUrl) === undefined) {
    return 'auth = "sigv4" needs region, which its base_url does not name'
  }
  if (key === undefined || readAwsKey(key)) return undefined
  return 'its key must be ID:SECRET, ID:SECRET:SESSION_TOKEN or a credentials file of AWS'
}
