/**
 * A stranger's receiver: a process of its own that checks each message with the public library of
 * Standard Webhooks and appends what it took to a file. `bun receiver.ts <secret> <file>` prints its
 * port. It answers what the path says: `/status/503`, `/redirect`, `/silent`, else 204.
 */
import { appendFileSync } from 'node:fs'
import { Webhook } from 'standardwebhooks'

const [secret = '', file = ''] = Bun.argv.slice(2)
const checker = new Webhook(secret)

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    const path = new URL(request.url).pathname
    const body = await request.text()
    let verified = true
    try {
      checker.verify(body, Object.fromEntries(request.headers))
    } catch {
      verified = false
    }
    const id = request.headers.get('webhook-id')
    appendFileSync(file, `${JSON.stringify({ path, id, verified, body })}\n`)
    if (path === '/redirect') {
      return new Response(null, { status: 307, headers: { location: '/stolen' } })
    }
    if (path === '/silent') await Bun.sleep(60_000)
    const status = Number(/^\/status\/(\d+)$/.exec(path)?.[1] ?? 204)
    return new Response(null, { status })
  },
})
console.log(server.port)
