/** Serves the embedded assets. */
import { type Context, Elysia } from 'elysia'
import { refuse } from '../../kernel/refusal.ts'
import { embedAssets } from './assets.macro.ts' with { type: 'macro' }
import type { EmbeddedAsset } from './assets.macro.ts'

const embedded: EmbeddedAsset[] = embedAssets()
const byName = new Map(embedded.map((asset) => [asset.name, asset.path]))
const byPath = new Map(embedded.map((asset) => [asset.path, lazily(asset)]))

/** The URL path of an embedded file. @throws Error for an unknown name. */
export function assetPath(name: string): string {
  const path = byName.get(name)
  if (path === undefined) throw new Error(`there is no asset ${name}`)
  return path
}

/**
 * `GET /assets/:name`: the embedded files and nothing else. A name carries the hash of its bytes,
 * so an answer never grows old; every other name is 404. Browsers ask for two icons by fixed names.
 */
export const assets = () =>
  new Elysia()
    .get('/assets/:name', ({ params, request, set }) => {
      const answer = answerAsset(`/assets/${params.name}`, request, set)
      set.headers['cache-control'] = 'public, max-age=31536000, immutable'
      return answer
    })
    .get('/favicon.ico', ({ request, set }) => {
      const answer = answerAsset(assetPath('favicon.ico'), request, set)
      set.headers['cache-control'] = 'public, max-age=86400'
      return answer
    })
    .get('/apple-touch-icon.png', ({ request, set }) => {
      const answer = answerAsset(assetPath('touch-icon.png'), request, set)
      set.headers['cache-control'] = 'public, max-age=86400'
      return answer
    })

function answerAsset(path: string, request: Request, set: Context['set']): Response {
  const asset = byPath.get(path) ?? refuse('not_found')
  const zipped = asset.gzip !== undefined && acceptsGzip(request)
  set.headers['content-type'] = asset.type
  set.headers['cross-origin-resource-policy'] = 'same-origin'
  if (asset.gzip) set.headers['vary'] = 'Accept-Encoding'
  if (zipped) set.headers['content-encoding'] = 'gzip'
  return new Response(zipped ? asset.gzip?.() : asset.plain())
}

type Bytes = Uint8Array<ArrayBuffer>

/** Decodes bytes on the first request; most assets are only ever sent zipped. */
function lazily({ type, bytes, gzipped }: EmbeddedAsset) {
  let stored: Bytes | undefined
  let plain: Bytes | undefined
  const embeddedBytes = (): Bytes => {
    stored ??= Uint8Array.from(Buffer.from(bytes, 'base64'))
    return stored
  }
  return {
    type,
    gzip: gzipped ? embeddedBytes : undefined,
    plain: () => {
      plain ??= gzipped ? Bun.gunzipSync(embeddedBytes()) : embeddedBytes()
      return plain
    },
  }
}

/** Whether an answer may be compressed; a list that says `gzip;q=0` says no. */
export const acceptsGzip = ({ headers }: Request): boolean =>
  /(?:^|,)\s*gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*(?:,|$))|,|$)/i.test(
    headers.get('accept-encoding') ?? '',
  )
