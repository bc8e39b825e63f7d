/** Images and PDFs of a message to the console: bounds and parts. Runs in browsers too. */
import type { Json } from '../../kernel/canonical.ts'

/** A file as a page sends it; `data` is a `data:` URL in base64. */
export type SentFile = { name: string; data: string }

/** Most files of one message. */
export const maxFiles = 8

/** The field of the form that hands a file back, by its place. */
export const keptName = (at: number): string => `file_${at}`

/** Longest name of a file, in characters. */
export const maxNameChars = 120

/** The characters of all `data:` URLs in a request; a quarter of its body is left to texts. */
export const roomIn = (bodyBytes: number): number => Math.floor((bodyBytes * 3) / 4)

export const charsOf = (files: readonly SentFile[] = []): number =>
  files.reduce((sum, { data }) => sum + data.length, 0)

/** The most tokens that a model reads of an image and of a PDF; undefined where it takes none. */
export type FileTokens = { imageTokens?: number | undefined; pdfTokens?: number | undefined }

const isPdf = ({ data }: SentFile): boolean => data.startsWith('data:application/pdf;')

/** The most tokens of files, in a hold. */
export const tokensOf = (files: readonly SentFile[], { imageTokens, pdfTokens }: FileTokens) =>
  files.reduce((sum, file) => sum + ((isPdf(file) ? pdfTokens : imageTokens) ?? 0), 0)

/** The part of a message that a file becomes, with this text as its `data:` URL. */
export const partOf = (file: SentFile, url: string): Json =>
  isPdf(file)
    ? { type: 'file', file: { filename: file.name, file_data: url } }
    : { type: 'image_url', image_url: { url } }

/** The inputs of a model, in words: a hint and the name of a field. */
export function takenText({ imageTokens, pdfTokens }: FileTokens): string {
  if (imageTokens === undefined && pdfTokens === undefined) return ''
  return [imageTokens !== undefined && 'images', pdfTokens !== undefined && 'PDFs']
    .filter(Boolean)
    .join(' and ')
}

/** The bounds of a message's files and what one of them holds, under the field. */
export function filesHint(model: string, tokens: FileTokens, room: number): string {
  const taken = takenText(tokens)
  if (taken === '') return `${model} takes no images.`
  const { imageTokens, pdfTokens } = tokens
  const most = [
    ...(imageTokens === undefined ? [] : [`${countText(imageTokens)} for an image`]),
    ...(pdfTokens === undefined ? [] : [`${countText(pdfTokens)} for a PDF`]),
  ]
  const bounds = `Up to ${maxFiles} ${taken}, ${sizeText(bytesIn(room))} together`
  return `${bounds}. Holds ${most.join(', ')}.`
}

const countText = (tokens: number): string => `${tokens.toLocaleString('en-US')} tokens`

/** The bytes that so many characters of base64 hold. */
export const bytesIn = (chars: number): number => Math.floor((chars * 3) / 4)

export function sizeText(bytes: number): string {
  if (bytes >= 1e6) return `${(bytes / 1e6).toFixed(1)} MB`
  return `${Math.max(1, Math.round(bytes / 1000))} kB`
}

/**
 * Why a model cannot be sent these files, and what to do; undefined where it can.
 * @param earlier files of the turns before
 */
export function filesFault(
  model: string,
  tokens: FileTokens,
  files: readonly SentFile[],
  earlier: readonly SentFile[] = [],
): string | undefined {
  const isTaken = (file: SentFile) =>
    (isPdf(file) ? tokens.pdfTokens : tokens.imageTokens) !== undefined
  const wrong = files.find((file) => !isTaken(file))
  const before = earlier.find((file) => !isTaken(file))
  const refused = wrong ?? before
  if (refused === undefined) return undefined
  const what = isPdf(refused) ? 'PDFs' : 'images'
  const way = wrong
    ? `Remove ${JSON.stringify(refused.name)}, or choose another model.`
    : `An earlier message has one: choose another model, or start over.`
  return `${model} takes no ${what}. ${way}`
}

/** A name that fits a line; an empty one becomes `file`. */
export const tidyName = (name: string): string =>
  name
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, '')
    .trim()
    .slice(0, maxNameChars)
    .toWellFormed() || 'file'

export const unknownFile = (name: string): string =>
  `${JSON.stringify(name)} is not a PNG, JPEG, WebP, GIF or PDF file.`

/** Why so many or so large files cannot be sent; undefined where they can. */
export function boundsFault(files: readonly SentFile[], room: number): string | undefined {
  if (files.length > maxFiles) return `A message takes at most ${maxFiles} files.`
  if (charsOf(files) <= room) return undefined
  const [all, most] = [charsOf(files), room].map((chars) => sizeText(bytesIn(chars)))
  return `The files have ${all} together; ${most} fit. Send smaller ones or fewer.`
}

export function tooLarge(name: string, bytes: number, room: number): string {
  const [all, most] = [sizeText(bytes), sizeText(bytesIn(room))]
  return `${JSON.stringify(name)} has ${all}; ${most} fit. Send a smaller one.`
}
