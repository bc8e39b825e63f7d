/** Asks an upstream for its signature of an answer. */
import { parseObject } from '../../kernel/json-object.ts'
import type { StopSignal } from '../../kernel/stop.ts'
import { evidenceSchemes } from '../../verify/evidence-schemes.ts'
import { request } from './http.ts'
import type { EvidenceConfig, EvidenceSource, FoundEvidence } from './signed-exchange.ts'
import { UpstreamFailure } from './upstream.ts'

/** A signature is short and there at once, or later. */
const limits = {
  firstByteMs: 5000,
  idleMs: 5000,
  totalMs: 5000,
  answerBytes: 64 * 1024,
  streamBytes: 64 * 1024,
}

/** `endpoint` makes the URL of a path below the base URL, with these parameters. */
export function evidenceSource(
  { scheme, keys, path }: EvidenceConfig,
  headers: Readonly<Record<string, string>>,
  endpoint: (path: string, query: Readonly<Record<string, string>>) => string,
): EvidenceSource {
  // It asks, and sends no body.
  const { 'content-type': _, ...asking } = headers
  const ask = async (id: string, model: string, signal: StopSignal): Promise<FoundEvidence> => {
    const url = endpoint(
      path.replace('{id}', () => id),
      { model, signing_algo: 'ecdsa' },
    )
    const wish = { url, method: 'GET', headers: asking, signal, limits, keepalive: false }
    const answer = await request(wish)
    if (answer.status !== 200) {
      answer.stop()
      return { why: answer.status === 404 ? 'not_found' : 'failed', isFinal: false }
    }
    const document = evidenceSchemes[scheme].read(parseObject(await answer.text()))
    return document === undefined ? { why: 'unreadable', isFinal: true } : { document }
  }
  return {
    scheme,
    keys,
    ask: ({ id, model }, signal) =>
      ask(id, model, signal).catch((error: unknown): FoundEvidence => {
        if (!(error instanceof UpstreamFailure)) throw error
        if (error.reason === 'too_large') return { why: 'too_large', isFinal: true }
        return { why: error.status === undefined ? 'unreachable' : 'failed', isFinal: false }
      }),
  }
}
