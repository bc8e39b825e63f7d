/** Images and PDFs in chat requests: what is taken, and the most tokens of one. */
import type { Json } from '../kernel/canonical.ts'
import { isObject, isSet, type JsonObject } from '../kernel/json-object.ts'
import { refuseField } from '../kernel/refusal.ts'
import { isOfType } from './media-types.ts'
import type { Model } from './model.ts'

/** Bytes of one image or PDF, decoded. The limit of a whole body is `[limits] body_bytes`. */
export const maxMediaBytes = 20 * 1024 * 1024

/** Pages of a PDF that a model server takes, where the configuration says nothing. */
export const defaultPdfPages = 100

/** The parts that are not text, and the member that holds their data URL. */
const media = {
  image_url: {
    member: 'url',
    types: /^image\/(png|jpeg|gif|webp)$/,
    names: 'PNG, JPEG, GIF, WebP',
  },
  file: { member: 'file_data', types: /^application\/pdf$/, names: 'PDF' },
} as const

export type MediaType = keyof typeof media

export const isMedia = (type: unknown): type is MediaType => type === 'image_url' || type === 'file'

/**
 * The most tokens that a model reads of images and PDFs, and what they likely are, which is counted
 * where usage is not reported. The most pages of a PDF cannot be told from its bytes: a tree of
 * pages in compressed objects can name one page a million times. So it is the most pages that the
 * model server takes.
 */
export type MediaTokens = { most: number; likely: number }

/**
 * Checks an image or a PDF: a `data:` URL in base64 of a known type, which its first bytes agree
 * with.
 * @throws Refusal 'invalid_request'
 */
export function checkMedia(
  model: Model,
  part: JsonObject,
  type: MediaType,
  path: string,
): MediaTokens {
  const { member } = media[type]
  tokensOfEach(model, type, path)
  const holder = part[type]
  const url = isObject(holder) ? holder[member] : undefined
  return checkDataUrl(model, url, type, { path, at: `${path}.${type}.${member}` })
}

/** The place of a part, and its data. */
type Place = { path: string; at: string }

/**
 * Checks a `data:` URL, as {@link checkMedia} does.
 * @throws Refusal 'invalid_request'
 */
export function checkDataUrl(
  model: Model,
  url: Json | undefined,
  type: MediaType,
  { path, at }: Place,
): MediaTokens {
  const each = tokensOfEach(model, type, path)
  const { types, names } = media[type]
  if (typeof url !== 'string') refuseField(at, `Send a data: URL here (${names}, in base64).`)
  if (!url.startsWith('data:')) {
    refuseField(at, `Send the bytes as a data: URL (${names}): no address is fetched here.`)
  }
  const comma = url.indexOf(',')
  const head = /^data:([a-z]+\/[a-z]+);base64$/.exec(url.slice(0, Math.max(0, comma)))
  const kind = head?.[1]
  if (kind === undefined || !types.test(kind)) {
    refuseField(at, `Send a data: URL of ${names}, in base64.`)
  }
  return checkEncoded(model, type, each, { text: url, from: comma + 1, kind, at })
}

/**
 * Checks base64 that stands beside the name of its type.
 * @throws Refusal 'invalid_request'
 */
export function checkBase64(
  model: Model,
  { media_type: kind, data }: JsonObject,
  type: MediaType,
  { path, at }: Place,
): MediaTokens {
  const each = tokensOfEach(model, type, path)
  const { types, names } = media[type]
  if (typeof kind !== 'string' || !types.test(kind)) {
    refuseField(`${at}.media_type`, `Send ${names} here.`)
  }
  if (typeof data !== 'string') refuseField(`${at}.data`, 'Send the bytes here, in base64.')
  return checkEncoded(model, type, each, { text: data, from: 0, kind, at: `${at}.data` })
}

/** The most tokens of an image or a page. @throws Refusal where the model has no bound for it */
function tokensOfEach(model: Model, type: MediaType, path: string): number {
  const each = mostTokensOf(model, type)
  if (each !== undefined) return each
  const what = type === 'file' ? 'files' : 'images'
  refuseField(path, `${model.id} takes no ${what} here: their tokens have no bound. Send text.`)
}

/** Undefined where the model takes none. */
const mostTokensOf = ({ pageTokensMax, imageTokensMax }: Model, type: MediaType) =>
  type === 'file' ? pageTokensMax : imageTokensMax

/** The most tokens of an image or a file that was not checked; 0 where the model takes none. */
export function mostOfUnchecked(model: Model, type: MediaType): number {
  const { pdfPagesMax = defaultPdfPages } = model
  return (mostTokensOf(model, type) ?? 0) * (type === 'file' ? pdfPagesMax : 1)
}

type EncodedFile = { text: string; from: number; kind: string; at: string }

function checkEncoded(
  model: Model,
  type: MediaType,
  each: number,
  encoded: EncodedFile,
): MediaTokens {
  const { text, from } = encoded
  checkBytes(text, from, encoded)
  if (type === 'image_url') return { most: each, likely: each }
  const { pdfPagesMax = defaultPdfPages } = model
  const pages = Math.min(pdfPagesMax, likelyPages(Buffer.from(text.slice(from), 'base64')))
  return { most: each * pdfPagesMax, likely: each * pages }
}

/** The tokens of all that stands in a request. */
export const sumOfMedia = (
  a: MediaTokens | undefined,
  b: MediaTokens | undefined,
): MediaTokens | undefined =>
  a && b ? { most: a.most + b.most, likely: a.likely + b.likely } : (a ?? b)

/** Bytes of a page, where pages are hidden in compressed objects; a named one may stand alone. */
const bytesOfPage = 32 * 1024

/** How many pages a PDF seems to have, where usage has to be counted. */
function likelyPages(pdf: Buffer): number {
  const seen = pdf.toString('latin1').match(/\/Type\s?\/Page\b/g)?.length ?? 0
  return Math.max(1, seen, Math.ceil(pdf.length / bytesOfPage))
}

function checkBytes(url: string, from: number, { kind, at }: { kind: string; at: string }): void {
  const length = url.length - from
  const padding = url.endsWith('==') ? 2 : url.endsWith('=') ? 1 : 0
  if (length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(url.slice(from))) {
    refuseField(at, 'The data is not base64.')
  }
  if ((length / 4) * 3 - padding > maxMediaBytes) {
    refuseField(at, `Send at most ${maxMediaBytes / 1024 / 1024} MiB in one part.`)
  }
  const first = Buffer.from(url.slice(from, from + 64), 'base64').toString('latin1')
  if (!isOfType(first, kind)) refuseField(at, `These bytes are not of type ${kind}.`)
}

/** Messages as their texts: without the data of images and files, which has a bound of its own. */
export function withoutMedia(messages: Json): Json {
  if (!Array.isArray(messages)) return messages
  return messages.map((message) => {
    if (!isObject(message) || !Array.isArray(message['content'])) return message
    return { ...message, content: message['content'].map(withoutData) }
  })
}

function withoutData(part: Json): Json {
  const type = isObject(part) ? part['type'] : undefined
  if (!isObject(part) || !isMedia(type)) return part
  const holder = part[type]
  return isObject(holder) && isSet(holder[media[type].member])
    ? { ...part, [type]: { ...holder, [media[type].member]: '' } }
    : part
}
