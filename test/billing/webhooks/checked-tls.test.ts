import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { type Certified, makeAuthority } from '../../support/certificates.ts'
import { promise } from '../../support/promise.ts'

setDefaultTimeout(60_000)

const hasOpenssl = Bun.which('openssl') !== null

/** Two servers on one port: the one that is allowed, and one that only a second answer names. */
describe.skipIf(!hasOpenssl)('a webhook over TLS', () => {
  let authority: Awaited<ReturnType<typeof makeAuthority>>
  let stranger: Awaited<ReturnType<typeof makeAuthority>>
  const servers: { stop(force: boolean): unknown }[] = []
  const heard: string[] = []
  const certified: Record<string, Certified> = {}
  beforeAll(async () => {
    authority = await makeAuthority()
    stranger = await makeAuthority()
    certified['own'] = await authority.certify('own', 'DNS:hooks.example')
    certified['another'] = await authority.certify('another', 'DNS:another.example')
    certified['foreign'] = await stranger.certify('foreign', 'DNS:hooks.example')
  })
  afterAll(async () => {
    for (const server of servers) server.stop(true)
    await authority?.remove()
    await stranger?.remove()
  })

  const serve = (hostname: string, certificate: string, port = 0): number => {
    const server = Bun.serve({
      hostname,
      port,
      tls: certified[certificate] ?? {},
      fetch(request) {
        const { pathname } = new URL(request.url)
        heard.push(`${hostname} ${request.headers.get('host')} ${pathname}`)
        if (pathname === '/away') {
          return new Response(null, { status: 308, headers: { location: 'https://127.0.0.2/' } })
        }
        return new Response(null, { status: 204 })
      },
    })
    servers.push(server)
    return server.port ?? 0
  }
  type Ask = { url: string; answers: string[][]; times?: number }
  const posted = async (asks: Ask[]) => {
    heard.length = 0
    const child = Bun.spawn([process.execPath, join(import.meta.dir, 'checked-child.ts')], {
      env: {
        ...process.env,
        NODE_TLS_REJECT_UNAUTHORIZED: '0',
        NODE_EXTRA_CA_CERTS: authority.path,
      },
      stdin: Buffer.from(asks.map((ask) => JSON.stringify(ask)).join('\n')),
      stdout: 'pipe',
    })
    const text = await new Response(child.stdout).text()
    await child.exited
    return text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { came: object[]; asked: number })
  }

  promise`E3`
  test('goes to the address that was checked, under the name of its URL and its certificate.', async () => {
    const port = serve('127.0.0.1', 'own')
    const url = `https://hooks.example:${port}/in`
    expect(await posted([{ url, answers: [['127.0.0.1'], ['127.0.0.2']] }])).toEqual([
      { came: [{ status: 204 }], asked: 1 },
    ])
    expect(heard).toEqual([`127.0.0.1 hooks.example:${port} /in`])
  })

  promise`E3`
  test('does not follow a name that turns to a forbidden address, nor one that has it among others.', async () => {
    const port = serve('127.0.0.1', 'own')
    serve('127.0.0.2', 'own', port)
    const url = `https://hooks.example:${port}/turned`
    const found = await posted([
      { url, answers: [['127.0.0.1'], ['127.0.0.2'], ['127.0.0.1', '127.0.0.2']], times: 3 },
      { url: `https://hooks.example:${port}/away`, answers: [['127.0.0.1']] },
      { url: `https://127.0.0.2:${port}/literal`, answers: [['127.0.0.1']] },
      { url: `https://2130706434:${port}/decimal`, answers: [['127.0.0.1']] },
      { url: `https://[::ffff:127.0.0.2]:${port}/mapped`, answers: [['127.0.0.1']] },
    ])
    const forbidden = { error: 'forbidden_address' }
    expect(found).toEqual([
      { came: [{ status: 204 }, forbidden, forbidden], asked: 3 },
      { came: [{ error: 'redirect' }], asked: 1 },
      { came: [forbidden], asked: 0 },
      { came: [forbidden], asked: 0 },
      { came: [forbidden], asked: 0 },
    ])
    expect(heard.map((line) => line.split(' ')[0])).toEqual(['127.0.0.1', '127.0.0.1'])
  })

  promise`E3`
  test('sends nothing to a server whose certificate is of another name, or of no trusted authority.', async () => {
    const another = serve('127.0.0.1', 'another')
    const foreign = serve('127.0.0.1', 'foreign')
    const right = serve('127.0.0.3', 'own')
    const at = (port: number) => `https://hooks.example:${port}/`
    const found = await posted([
      { url: at(another), answers: [['127.0.0.1']] },
      { url: at(foreign), answers: [['127.0.0.1']] },
      // A certificate of the name does not do for a URL that names the address.
      { url: `https://127.0.0.3:${right}/`, answers: [] },
      { url: at(right), answers: [['127.0.0.3']] },
    ])
    const unreachable = [{ error: 'unreachable' }]
    expect(found.map(({ came }) => came)).toEqual([
      unreachable,
      unreachable,
      unreachable,
      [{ status: 204 }],
    ])
    expect(heard).toEqual([`127.0.0.3 hooks.example:${right} /`])
  })
})
