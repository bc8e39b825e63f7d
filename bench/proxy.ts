/**
 * The least a gateway can be: `bun bench/proxy.ts <upstream origin>`. It sends every request on
 * and pipes the answer back: no keys, no money, no parsing. A gateway's cost is told in its terms.
 */
const origin = Bun.argv[2]
if (!origin) throw new Error('usage: bun bench/proxy.ts <upstream origin>')

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  idleTimeout: 255,
  fetch: async (request) => {
    const { pathname, search } = new URL(request.url)
    try {
      const answer = await fetch(origin + pathname + search, {
        method: request.method,
        headers: { 'content-type': request.headers.get('content-type') ?? 'application/json' },
        // Small and whole: cheaper than piping it, and the bar should be high.
        body: await request.arrayBuffer(),
        signal: request.signal,
      })
      return new Response(answer.body, { status: answer.status, headers: answer.headers })
    } catch {
      // Mostly a reader that went away.
      return new Response(null, { status: 502 })
    }
  },
})
console.log(server.url.origin)

// A stream that is cut while it is piped rejects where no one can catch it.
process.on('unhandledRejection', () => {})
