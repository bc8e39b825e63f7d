/** A JSON-RPC server in front of another, with faults that a test chooses. */
export type RpcProxy = {
  url: string
  /** The methods that were asked for, in order. */
  asked: string[]
  /** What happens to a call instead of being passed on; undefined passes it on. */
  fault: Fault | undefined
  /** What it says in the place of what the server behind it said. */
  lie: Lie | undefined
  /** Called after a call was passed on and answered, before the answer goes out. */
  passed: ((method: string) => void) | undefined
  stop(): Promise<void>
}

export type Lie = (method: string, params: unknown[], truth: unknown) => unknown

export type Fault = (method: string) => Response | undefined | Promise<Response | undefined>

export function rpcProxy(target: string, path = '/'): RpcProxy {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const body = await request.text()
      const { method, params = [] } = JSON.parse(body)
      proxy.asked.push(method)
      const fault = await proxy.fault?.(method)
      if (fault) return fault
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch(target, { method: 'POST', headers, body })
      const text = await answer.text()
      proxy.passed?.(method)
      const { lie } = proxy
      const told = lie && JSON.parse(text)
      if (lie && 'result' in told) return result(lie(method, params, told.result))
      return new Response(text, { status: answer.status, headers })
    },
  })
  const proxy: RpcProxy = {
    url: `http://127.0.0.1:${server.port}${path}`,
    asked: [],
    fault: undefined,
    lie: undefined,
    passed: undefined,
    stop: () => server.stop(true),
  }
  return proxy
}

/** What a server answers in JSON-RPC. */
export const result = (value: unknown): Response =>
  Response.json({ jsonrpc: '2.0', id: 1, result: value })

export const rpcError = (code: number, message: string, data?: string): Response =>
  Response.json({ jsonrpc: '2.0', id: 1, error: { code, message, data } })

/** The usual ways in which a server of a chain fails, by what the status calls them. */
export const faults: Record<string, Fault> = {
  busy: () => new Response('slow down', { status: 429 }),
  malformed: () => new Response('<html>Bad gateway</html>', { status: 502 }),
  wrong_chain: (method) => (method === 'eth_chainId' ? result('0x1') : undefined),
  refused: (method) => (method === 'eth_chainId' ? undefined : rpcError(-32000, 'no such header')),
  too_large: (method) =>
    method === 'eth_chainId' ? undefined : new Response('x'.repeat(9 * 1024 * 1024)),
  unreachable: () => new Response(null, { status: 302, headers: { location: 'http://a.invalid' } }),
}
