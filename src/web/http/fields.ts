/** Reads the fields of a form or a JSON body. */
import type { Json } from '../../kernel/canonical.ts'
import { refuse } from '../../kernel/refusal.ts'
import { readJson, readText } from './body.ts'
import { readFileParts, readParts } from './form-parts.ts'

const formType = 'application/x-www-form-urlencoded'

/** The fields of a form or the members of a JSON body; a form's values are all text. */
export type Fields = { value: Json; isForm: boolean }

/** The fields of a form as typed, to show them again with an error. */
export type Draft = Readonly<Record<string, string>>

/** The text fields of a body; none if it is not an object. */
export function draftOf(value: Json): Draft {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return {}
  return Object.fromEntries(
    Object.entries(value).filter(
      (field): field is [string, string] => typeof field[1] === 'string',
    ),
  )
}

/**
 * Reads what a dashboard route takes: a form or JSON, or nothing at all. Call it after the guards.
 * @throws Refusal 'payload_too_large', 'unsupported_media_type', 'invalid_request'
 */
export async function readFields(
  request: Request,
  { limitBytes }: { limitBytes: number },
): Promise<Fields> {
  const type = request.headers.get('content-type')
  if (type === null && request.headers.get('content-length') === '0') {
    return { value: {}, isForm: false }
  }
  if (!type?.toLowerCase().startsWith(formType)) {
    return { value: (await readJson(request, { limitBytes })).value, isForm: false }
  }
  return {
    value: parseForm(await readText(request, { limitBytes, contentType: formType })),
    isForm: true,
  }
}

/** How many times its limit a form with files is read, to answer what was written in it. */
const readPastLimit = 16

/** A file that a form brought. */
export type FormFile = { field: string; name: string; bytes: Uint8Array }

/**
 * As {@link readFields}, and the files of a form that carries some. A field that was left empty
 * brings none. `isCut`: it is too large, and has what came before its limit.
 * @throws Refusal as {@link readFields}
 */
export async function readFieldsAndFiles(
  request: Request,
  limits: { limitBytes: number },
): Promise<Fields & { files: FormFile[]; isCut: boolean }> {
  const type = request.headers.get('content-type')?.toLowerCase() ?? ''
  if (!type.startsWith('multipart/')) {
    return { ...(await readFields(request, limits)), files: [], isCut: false }
  }
  const texts: [string, string][] = []
  const files: FormFile[] = []
  const mostBytes = limits.limitBytes * readPastLimit
  const { parts, isCut } = await readFileParts(request, { ...limits, mostBytes })
  for (const [field, part] of parts) {
    if (typeof part === 'string') texts.push([field, part])
    else if (part.bytes.length > 0 || part.name !== '') files.push({ field, ...part })
  }
  return { value: toFields(texts), isForm: true, files, isCut }
}

/**
 * Reads a form of a page, with or without files, which come as their text.
 * @throws Refusal as {@link readFields}
 */
export async function readForm(
  request: Request,
  { limitBytes }: { limitBytes: number },
): Promise<Record<string, string>> {
  const type = request.headers.get('content-type')?.toLowerCase() ?? ''
  if (type.startsWith('multipart/')) return toFields(await readParts(request, { limitBytes }))
  return parseForm(await readText(request, { limitBytes, contentType: formType }))
}

/**
 * The fields of a URL-encoded form.
 * @throws Refusal 'invalid_request' for a field that is given twice, and for a zero byte
 */
export const parseForm = (text: string): Record<string, string> =>
  toFields([...new URLSearchParams(text)])

function toFields(entries: readonly [name: string, value: string][]): Record<string, string> {
  const names = new Set<string>()
  for (const [name, value] of entries) {
    if (names.has(name)) refuse('invalid_request', 'The form holds a field more than once.')
    if (name.includes('\0') || value.includes('\0')) {
      refuse('invalid_request', 'The form holds a zero byte.')
    }
    names.add(name)
  }
  // A form sends every line break as CRLF.
  return Object.fromEntries(entries.map(([name, value]) => [name, value.replaceAll('\r\n', '\n')]))
}
