import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createHash, createHmac, generateKeyPairSync, verify } from 'node:crypto'
import { findProvider } from '../../../src/models/providers/presets.ts'
import { askProvider } from '../../../src/models/upstream/ask-provider.ts'
import { awsSigner } from '../../../src/models/upstream/aws-signer.ts'
import { readAwsKey, regionIn } from '../../../src/models/upstream/credentials.ts'
import { modelServer } from '../../../src/models/upstream/model-server.ts'
import { type Upstream, UpstreamFailure } from '../../../src/models/upstream/upstream.ts'

const said = { role: 'assistant', content: 'Hi.' }
const good = { choices: [{ index: 0, message: said, finish_reason: 'stop' }] }
const models = { object: 'list', data: [{ id: 'some-chat', context_window: 32_000 }] }

/** The secret of the examples in the documentation of AWS. */
const exampleSecret = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'

const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

/** The check of AWS, worked out by the steps of its documentation. */
async function isSigned(request: Request, text: string): Promise<boolean> {
  const { pathname, search } = new URL(request.url)
  const pattern =
    /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/(\d{8})\/([\w-]+)\/(\w+)\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$/
  const found = pattern.exec(request.headers.get('authorization') ?? '')
  if (!found) return false
  const [, date = '', region = '', service = '', names = '', signature] = found
  const headers = names.split(';').map((name) => `${name}:${request.headers.get(name)}\n`)
  const whole = [request.method, pathname, search.slice(1), headers.join(''), names, sha256(text)]
  const time = request.headers.get('x-amz-date') ?? ''
  const scope = `${date}/${region}/${service}/aws4_request`
  const toSign = ['AWS4-HMAC-SHA256', time, scope, sha256(whole.join('\n'))].join('\n')
  const steps = [region, service, 'aws4_request']
  const key = steps.reduce(hmac, hmac(`AWS4${exampleSecret}`, date))
  return time.startsWith(date) && hmac(key, toSign).toString('hex') === signature
}

const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})

let now = 1_800_000_000_000
let server: Bun.Server<undefined>
let asked: { path: string; authorization: string | null }[] = []
let bought: { header: object; claims: Record<string, unknown>; isValid: boolean }[] = []
/** The answer of the token server. */
let tokenAnswer: () => Response | Promise<Response> = () => new Response()
/** Whether the model server takes a token. */
let takes = (_token: string | undefined): boolean => true

beforeEach(() => {
  now = 1_800_000_000_000
  asked = []
  bought = []
  takes = () => true
  tokenAnswer = () =>
    Response.json({ access_token: `ya29.token-${bought.length}`, expires_in: 3600 })
  server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname } = new URL(request.url)
      const text = await request.text()
      const authorization = request.headers.get('authorization')
      if (pathname === '/token') return sellToken(text)
      asked.push({ path: pathname, authorization })
      const isTaken = pathname.startsWith('/aws')
        ? await isSigned(request, text)
        : takes(authorization?.slice('Bearer '.length))
      const words = `no ${authorization}`
      if (!isTaken) return Response.json({ error: { message: words } }, { status: 401 })
      return Response.json(pathname.endsWith('/models') ? models : good)
    },
  })
})
afterEach(() => server.stop(true))

function sellToken(text: string): Response | Promise<Response> {
  const form = new URLSearchParams(text)
  const [header = '', claims = '', signature = ''] = form.get('assertion')?.split('.') ?? []
  const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString())
  const signed = Buffer.from(`${header}.${claims}`)
  const isValid = verify('RSA-SHA256', signed, publicKey, Buffer.from(signature, 'base64url'))
  expect(form.get('grant_type')).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer')
  bought.push({ header: read(header), claims: read(claims), isValid })
  return tokenAnswer()
}

const at = (path: string) => `http://127.0.0.1:${server.port}/${path}`

const google = (): Upstream =>
  modelServer({
    id: 'vertex',
    baseUrl: at('google'),
    auth: 'google',
    apiKey: accountKey(),
    clock: { now: () => now },
  })

const accountKey = () =>
  JSON.stringify({
    type: 'service_account',
    client_email: 'robot@project.iam.gserviceaccount.com',
    private_key: privateKey,
    private_key_id: 'key-1',
    token_uri: at('token'),
  })

const ask = (upstream: Upstream, signal: AbortSignal = new AbortController().signal) =>
  upstream.complete({ kind: 'chat', account: 'a', body: { model: 'm', messages: [] }, signal })

async function failureOf(work: Promise<unknown>): Promise<UpstreamFailure> {
  const error = await work.then(() => undefined).catch((reason: unknown) => reason)
  if (error instanceof UpstreamFailure) return error
  throw new Error(`it did not fail as an upstream does: ${error}`)
}

describe('requests that are signed for AWS', () => {
  /** Of the published test suite of Signature Version 4. */
  test.each([
    ['GET', '/', '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
    ['POST', '/', '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
    [
      'GET',
      '/?Param2=value2&Param1=value1',
      'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
    ],
  ] as const)('%s %s has the signature that AWS publishes', async (method, path, signature) => {
    const signer = awsSigner({
      key: { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: exampleSecret },
      region: 'us-east-1',
      service: 'service',
      clock: { now: () => Date.UTC(2015, 7, 30, 12, 36, 0) },
    })
    const url = `https://example.amazonaws.com${path}`
    const headers = await signer.headersFor({ method, url, body: undefined })
    expect(headers['authorization']).toBe(
      'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, ' +
        `SignedHeaders=host;x-amz-date, Signature=${signature}`,
    )
    expect(headers['x-amz-date']).toBe('20150830T123600Z')
  })

  const open = (secret: string) =>
    modelServer({
      id: 'bedrock',
      baseUrl: at('aws/openai/v1'),
      auth: 'sigv4',
      apiKey: `AKIDEXAMPLE:${secret}`,
      region: 'us-east-1',
    })

  test('are taken by a server that checks them as AWS does, each body with its own', async () => {
    const upstream = open(exampleSecret)
    expect(await ask(upstream)).toMatchObject(good)
    expect(await ask(upstream)).toMatchObject(good)
    expect(asked.map(({ path }) => path)).toEqual(Array(2).fill('/aws/openai/v1/chat/completions'))
  })

  test('with a wrong secret fail as the fault of the operator', async () => {
    const failure = await failureOf(ask(open('wrong')))
    expect(failure).toMatchObject({ reason: 'denied', status: 401 })
    expect(JSON.stringify(failure)).not.toContain('AKIDEXAMPLE')
  })

  test('carry the token of a session, which is signed too', async () => {
    const key = readAwsKey(`AKIDEXAMPLE:${exampleSecret}:c2Vzc2lvbg==`)
    if (!key) throw new Error('it is a key')
    const place = { key, region: 'eu-west-1', service: 'bedrock', clock: Date }
    const url = 'https://x.example'
    const headers = await awsSigner(place).headersFor({ method: 'POST', url, body: '{}' })
    expect(headers['x-amz-security-token']).toBe('c2Vzc2lvbg==')
    expect(headers['authorization']).toContain('host;x-amz-date;x-amz-security-token')
  })

  test('list the models of the preset for a right key, and are refused for a wrong one', async () => {
    const provider = findProvider('bedrock-iam')
    if (!provider) throw new Error('it has no preset')
    const access = { settings: { region: 'us-east-1' }, baseUrl: at('aws/openai/v1') }
    const answer = await askProvider(provider, {
      ...access,
      apiKey: `AKIDEXAMPLE:${exampleSecret}`,
    })
    expect(answer.status).toBe('ok')
    const wrong = await askProvider(provider, { ...access, apiKey: 'AKIDEXAMPLE:wrong' })
    expect(wrong).toEqual({ status: 'denied' })
    expect(await askProvider(provider, { ...access, apiKey: 'no key' })).toEqual(wrong)
  })

  test('take keys in one line or as a credentials file, and find the region in the host', () => {
    const file = '[default]\naws_access_key_id = AKID\naws_secret_access_key=s/e+c\n[other]\n'
    expect(readAwsKey(file)).toEqual({ accessKeyId: 'AKID', secretAccessKey: 's/e+c' })
    expect(readAwsKey('AKID')).toBeUndefined()
    expect(readAwsKey('AKID:a:b:c')).toBeUndefined()
    expect(regionIn('https://bedrock-runtime.us-gov-west-1.amazonaws.com/x')).toBe('us-gov-west-1')
    expect(regionIn('https://us-east-1.example.com')).toBeUndefined()
  })
})

describe('requests with the token of a service account', () => {
  test('buy one token for many callers, by a claim that the key signs', async () => {
    const upstream = google()
    await Promise.all(Array.from({ length: 20 }, () => ask(upstream)))
    expect(bought).toHaveLength(1)
    expect(bought[0]).toEqual({
      header: { alg: 'RS256', typ: 'JWT', kid: 'key-1' },
      claims: {
        iss: 'robot@project.iam.gserviceaccount.com',
        scope: 'https://www.googleapis.com/auth/cloud-platform',
        aud: at('token'),
        iat: now / 1000,
        exp: now / 1000 + 3600,
      },
      isValid: true,
    })
    expect(new Set(asked.map(({ authorization }) => authorization))).toEqual(
      new Set(['Bearer ya29.token-1']),
    )
  })

  test('buy the next one shortly before the end, and use the old one while that fails', async () => {
    const upstream = google()
    await ask(upstream)
    now += 54 * 60_000
    await ask(upstream)
    expect(bought).toHaveLength(1)
    now += 2 * 60_000
    tokenAnswer = () => new Response('', { status: 503 })
    await ask(upstream)
    // The request does not wait for the purchase that it began.
    while (bought.length < 2) await Bun.sleep(1)
    await ask(upstream)
    expect(bought).toHaveLength(2)
    expect(asked.at(-1)?.authorization).toBe('Bearer ya29.token-1')
    now += 5 * 60_000
    expect((await failureOf(ask(upstream))).reason).toBe('error')
  })

  test('are the fault of the operator when the token server refuses the key', async () => {
    tokenAnswer = () => Response.json({ error: 'invalid_grant' }, { status: 400 })
    const upstream = google()
    const failures = await Promise.all([failureOf(ask(upstream)), failureOf(ask(upstream))])
    for (const failure of failures) expect(failure).toMatchObject({ reason: 'denied', status: 400 })
    await failureOf(ask(upstream))
    expect(bought).toHaveLength(1)
    expect(asked).toEqual([])
    now += 5000
    tokenAnswer = () => Response.json({ access_token: 'ya29.b', expires_in: 3600 })
    expect(await ask(upstream)).toMatchObject(good)
  })

  test('drop a token that the model server does not take', async () => {
    const upstream = google()
    await ask(upstream)
    takes = (token) => token !== 'ya29.token-1'
    // A token that was bought just now stays: the next one would be refused as well.
    expect(await failureOf(ask(upstream))).toMatchObject({ reason: 'denied', status: 401 })
    expect(bought).toHaveLength(1)
    now += 30_000
    const failure = await failureOf(ask(upstream))
    expect(failure).toMatchObject({ reason: 'denied', status: 401 })
    expect(JSON.stringify(failure)).not.toContain('ya29')
    expect(await ask(upstream)).toMatchObject(good)
    expect(bought).toHaveLength(2)
  })

  test('end at once for a caller that leaves, and the token serves the others', async () => {
    const gate = Promise.withResolvers<void>()
    tokenAnswer = async () => {
      await gate.promise
      return Response.json({ access_token: 'ya29.late', expires_in: 3600 })
    }
    const upstream = google()
    const leaver = new AbortController()
    const left = failureOf(ask(upstream, leaver.signal))
    const stays = ask(upstream)
    leaver.abort()
    expect((await left).reason).toBe('aborted')
    gate.resolve()
    expect(await stays).toMatchObject(good)
    expect(bought).toHaveLength(1)
  })

  test('list the models of the preset', async () => {
    const provider = findProvider('vertex-service-account')
    if (!provider) throw new Error('it has no preset')
    const access = { settings: {}, baseUrl: at('google'), apiKey: accountKey() }
    expect((await askProvider(provider, access)).status).toBe('ok')
    tokenAnswer = () => new Response('', { status: 401 })
    expect(await askProvider(provider, access)).toEqual({ status: 'denied' })
  })
})
