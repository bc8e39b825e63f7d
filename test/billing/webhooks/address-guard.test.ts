import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { parseBlock } from '../../../src/kernel/network-block.ts'
import { isPublicAddress } from '../../../src/kernel/public-address.ts'
import { isTarget, makeCheckedPost, type Reach } from '../../../src/models/upstream/checked-post.ts'
import { promise } from '../../support/promise.ts'

const strict: Reach = { allowed: [], isLoopbackAllowed: false }
const dev: Reach = { allowed: [], isLoopbackAllowed: true }

const spellings = [
  'https://127.0.0.1/',
  'https://127.1/',
  'https://127.0.1/',
  'https://2130706433/',
  'https://0x7f000001/',
  'https://0x7f.1/',
  'https://0177.0.0.1/',
  'https://017700000001/',
  'https://127.0.0.1./',
  'https://127.255.255.254/',
  'https://0/',
  'https://0.0.0.0/',
  'https://10.0.0.1/',
  'https://10.1/',
  'https://0xa.0.0.1/',
  'https://167772161/',
  'https://172.16.0.1/',
  'https://172.31.255.255/',
  'https://192.168.0.1/',
  'https://0xc0a80001/',
  'https://169.254.169.254/',
  'https://2852039166/',
  'https://0xa9fea9fe/',
  'https://100.64.0.1/',
  'https://100.100.100.200/',
  'https://192.0.0.192/',
  'https://198.18.0.1/',
  'https://224.0.0.1/',
  'https://239.255.255.250/',
  'https://255.255.255.255/',
  'https://240.0.0.1/',
  'https://[::1]/',
  'https://[::]/',
  'https://[0:0:0:0:0:0:0:1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:7f00:1]/',
  'https://[::ffff:8.8.8.8]/',
  'https://[::127.0.0.1]/',
  'https://[64:ff9b::7f00:1]/',
  'https://[64:ff9b:1::a00:1]/',
  'https://[2002:7f00:1::]/',
  'https://[2001:0:7f00:1::]/',
  'https://[2001:db8::1]/',
  'https://[fe80::1]/',
  'https://[fc00::1]/',
  'https://[fd00:ec2::254]/',
  'https://[ff02::1]/',
  'https://[100::1]/',
  'https://\u2460\u2461\u2466.0.0.1/',
  'https://127\u30020\u30020\u30021/',
  'http://8.8.8.8/',
  'ftp://8.8.8.8/',
  'https://user@8.8.8.8/',
  'https://user:word@8.8.8.8/',
  'file:///etc/passwd',
  'gopher://127.0.0.1/',
]

describe('where a webhook may go', () => {
  promise`E3 C: An address that users influence is resolved and checked before it is called.`
  test.each(spellings)('A webhook may not go to %s.', (url) => {
    expect(isTarget(url, strict)).toBe(false)
  })

  test.each(['https://8.8.8.8/', 'https://[2606:4700:4700::1111]/', 'https://example.com:8443/x'])(
    'to %s',
    (url) => expect(isTarget(url, strict)).toBe(true),
  )

  promise`E3`
  test.each(['localhost', 'localhost.', 'LOCALHOST', 'a.localhost', 'localhost.localdomain'])(
    'not to %s, a name that is loopback everywhere, unless loopback is allowed',
    (name) => {
      expect(isTarget(`https://${name}/`, strict)).toBe(false)
      expect(isTarget(`https://${name}/`, dev)).toBe(true)
      const block = parseBlock('127.0.0.0/8')
      const reach = { allowed: block ? [block] : [], isLoopbackAllowed: false }
      expect(isTarget(`https://${name}/`, reach)).toBe(true)
      expect(isTarget(`https://not-${name.replace('a.', '')}.example/`, strict)).toBe(true)
    },
  )

  test('Without TLS to loopback alone, and only while the server is tried out.', () => {
    expect(isTarget('http://127.0.0.1:9/', dev)).toBe(true)
    expect(isTarget('http://localhost:9/', dev)).toBe(true)
    expect(isTarget('http://10.0.0.1/', dev)).toBe(false)
    expect(isTarget('http://127.0.0.1:9/', strict)).toBe(false)
  })

  test('A network that the operator allows may be reached, its neighbours not.', () => {
    const block = parseBlock('10.1.0.0/16')
    const reach = { allowed: block ? [block] : [], isLoopbackAllowed: false }
    expect(isTarget('https://10.1.2.3/', reach)).toBe(true)
    expect(isTarget('https://10.2.2.3/', reach)).toBe(false)
  })

  test('Text that is not an address is not a public one.', () => {
    for (const text of ['', 'example.com', '8.8.8', '8.8.8.8.8', '::g']) {
      expect(isPublicAddress(text)).toBe(false)
    }
  })
})

describe('a name', () => {
  let hits: string[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      hits.push(`${request.method} ${new URL(request.url).pathname} ${request.headers.get('host')}`)
      const { pathname } = new URL(request.url)
      if (pathname === '/redirect') return Response.redirect('http://127.0.0.1:1/stolen', 302)
      if (pathname === '/silent') await Bun.sleep(3000)
      if (pathname === '/talkative') return new Response(`no\n\u0000${'é'.repeat(900)}`)
      if (pathname === '/echo') {
        const heard = request.headers.get('webhook-signature')
        return Response.json({ a: `x\u202egnp.exe\u2066${heard}`, b: heard?.slice(3) })
      }
      if (pathname === '/endless') {
        return new Response(new Uint8Array(1_000_000))
      }
      return new Response('ok')
    },
  })
  beforeAll(() => {
    hits = []
  })
  afterAll(() => server.stop(true))

  const post = async (reach: Reach, path: string, answers: string[][], name = 'hooks.test') => {
    let asked = 0
    const resolve = async () => answers[Math.min(asked++, answers.length - 1)] ?? []
    const url = `${reach.isLoopbackAllowed ? 'http' : 'https'}://${name}:${server.port}${path}`
    const signal = new AbortController().signal
    const posted = await makeCheckedPost(
      () => reach,
      resolve,
    )({
      ...{ from: 'whk_1', url, headers: {}, body: '{}', signal },
    })
    return { posted, asked }
  }

  promise`E3`
  test('is refused if any of its addresses is private', async () => {
    const before = hits.length
    for (const address of ['127.0.0.1', '10.0.0.1', '::1', '::ffff:10.0.0.1', '169.254.169.254']) {
      const { posted } = await post(strict, '/', [['8.8.8.8', address]])
      expect(posted).toEqual({ error: 'forbidden_address' })
    }
    expect(hits.length).toBe(before)
  })

  promise`E3`
  test('is resolved once: what it answers a moment later changes nothing', async () => {
    const { posted, asked } = await post(dev, '/once', [['127.0.0.1'], ['10.255.255.1']])
    expect([posted, asked]).toEqual([{ status: 200, answer: 'ok' }, 1])
    // The request names the host as the URL does, although it goes to an address.
    expect(hits.at(-1)).toBe(`POST /once hooks.test:${server.port}`)
    const turned = await post(strict, '/turned', [['10.255.255.1'], ['8.8.8.8']])
    expect(turned).toEqual({ posted: { error: 'forbidden_address' }, asked: 1 })
  })

  test('that resolves to nothing, or not at all, is unknown', async () => {
    expect((await post(strict, '/', [[]])).posted).toEqual({ error: 'unknown_host' })
    const failing = makeCheckedPost(
      () => strict,
      () => Promise.reject(new Error('SERVFAIL')),
    )
    const { signal } = new AbortController()
    const message = { from: 'w', url: 'https://hooks.test/', headers: {}, body: '', signal }
    expect(await failing(message)).toEqual({ error: 'unknown_host' })
  })

  promise`E3`
  test('whose server redirects is not followed', async () => {
    const { posted } = await post(dev, '/redirect', [['127.0.0.1']])
    expect(posted).toEqual({ error: 'redirect' })
    expect(hits.filter((hit) => hit.includes('stolen'))).toEqual([])
  })

  test('whose server and resolver are slow has one time for both together', async () => {
    const before = performance.now()
    const posting = makeCheckedPost(
      () => dev,
      async () => {
        await Bun.sleep(250)
        return ['127.0.0.1']
      },
      600,
    )
    const { signal } = new AbortController()
    const url = `http://hooks.test:${server.port}/silent`
    const posted = await posting({ from: 'w', url, headers: {}, body: '{}', signal })
    expect(posted).toEqual({ error: 'timeout' })
    expect(performance.now() - before).toBeLessThan(2000)
  })

  test('whose server answers without end is read for 64 KiB and its status counts', async () => {
    const { posted } = await post(dev, '/endless', [['127.0.0.1']])
    expect(posted).toEqual({ status: 200, answer: '' })
  })

  test('whose server says much has the first 200 bytes of it kept, on one line', async () => {
    const { posted } = await post(dev, '/talkative', [['127.0.0.1']])
    expect(posted).toEqual({ status: 200, answer: `no ${'é'.repeat(98)}` })
  })

  test('that echoes its request keeps no signature, and no mark of direction', async () => {
    const { signal } = new AbortController()
    const url = `http://hooks.test:${server.port}/echo`
    const posting = makeCheckedPost(
      () => dev,
      async () => ['127.0.0.1'],
    )
    const signed = `v1,${Buffer.alloc(32, 255).toString('base64')}`
    const headers = { 'webhook-signature': `${signed} ${signed.replaceAll('8', '7')}` }
    const posted = await posting({ from: 'w', url, headers, body: '{}', signal })
    if ('error' in posted) throw new Error(posted.error)
    expect(posted.answer).toMatch(/^\{"a":"x gnp\.exe v1,… v1,…","b":"… v1,…"\}$/)
  })
})
