import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'

/** A span as a collector sees it, its attributes by name. */
export type SeenSpan = {
  traceId: string
  spanId: string
  parentSpanId?: string
  traceState?: string
  flags: number
  name: string
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  status?: { code: number }
  attributes: Record<string, unknown>
}

export type Collector = Awaited<ReturnType<typeof startCollector>>

/** How a collector answers one request; it may leave it hanging. */
export type Answering = (response: ServerResponse, count: number) => void

const taken: Answering = (response) => {
  response.setHeader('content-type', 'application/json')
  response.end('{"partialSuccess":{}}')
}

/** An OTLP/HTTP collector on a loopback port that reads JSON strictly and keeps what it took. */
export async function startCollector(answering: Answering = taken) {
  const requests: { path: string; headers: IncomingHttpHeaders; text: string }[] = []
  const spans: SeenSpan[] = []
  const resources: Record<string, unknown>[] = []
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece)
    const text = Buffer.concat(pieces).toString()
    requests.push({ path: request.url ?? '', headers: request.headers, text })
    read(JSON.parse(text))
    answering(response, requests.length)
  })
  function read(body: { resourceSpans: Told[] }): void {
    for (const { resource, scopeSpans } of body.resourceSpans) {
      resources.push(valuesOf(resource.attributes))
      for (const scope of scopeSpans) spans.push(...scope.spans.map(readSpan))
    }
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the collector has no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    spans,
    resources,
    /** The spans of a trace: that of the run, and those of what it asked in their order. */
    of(traceId: string) {
      const own = spans.filter((span) => span.traceId === traceId)
      const runs = own.filter(({ kind }) => kind === 2)
      return { runs, attempts: own.filter(({ kind }) => kind === 3) }
    },
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

type Attribute = { key: string; value: Record<string, unknown> }
type Told = {
  resource: { attributes: Attribute[] }
  scopeSpans: { spans: (Omit<SeenSpan, 'attributes'> & { attributes: Attribute[] })[] }[]
}

/** @throws where ids, times or kinds are not as the protocol buffers of OTLP have them in JSON. */
function readSpan(span: Told['scopeSpans'][number]['spans'][number]): SeenSpan {
  const fits =
    /^[0-9a-f]{32}$/.test(span.traceId) &&
    /^[0-9a-f]{16}$/.test(span.spanId) &&
    (span.parentSpanId === undefined || /^[0-9a-f]{16}$/.test(span.parentSpanId)) &&
    /^\d{19}$/.test(span.startTimeUnixNano) &&
    /^\d{19}$/.test(span.endTimeUnixNano) &&
    BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano)
  if (!fits) throw new Error(`no span: ${JSON.stringify(span)}`)
  return { ...span, attributes: valuesOf(span.attributes) }
}

function valuesOf(attributes: Attribute[]): Record<string, unknown> {
  const names = attributes.map(({ key }) => key)
  if (new Set(names).size < names.length) throw new Error(`an attribute comes twice: ${names}`)
  return Object.fromEntries(attributes.map(({ key, value }) => [key, readValue(value)]))
}

function readValue(value: Record<string, unknown>): unknown {
  const [[kind, said] = ['', undefined], ...more] = Object.entries(value)
  if (more.length > 0) throw new Error('a value has two kinds')
  if (kind === 'stringValue' && typeof said === 'string') return said
  if (kind === 'intValue' && typeof said === 'string' && /^-?\d+$/.test(said)) return Number(said)
  if (kind === 'arrayValue') {
    return (said as { values: Record<string, unknown>[] }).values.map(readValue)
  }
  throw new Error(`no value: ${JSON.stringify(value)}`)
}
