import type { Json } from '../kernel/canonical.ts'
import { refuse } from '../kernel/refusal.ts'
import { readJson, readText } from './body.ts'

const formType = 'application/x-www-form-urlencoded'

/** The fields of a form or the members of a JSON body; a form's values are all text. */
export type Fields = { value: Json; isForm: boolean }

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

/**
 * The fields of a URL-encoded form.
 * @throws Refusal 'invalid_request' for a field that is given twice, and for a zero byte
 */
export function parseForm(text: string): Record<string, string> {
  const entries = [...new URLSearchParams(text)]
  const names = new Set<string>()
  for (const [name, value] of entries) {
    if (names.has(name)) refuse('invalid_request', 'The form holds a field more than once.')
    if (name.includes('\0') || value.includes('\0')) {
      refuse('invalid_request', 'The form holds a zero byte.')
    }
    names.add(name)
  }
  // A form sends every line break as CRLF, whatever was typed or shown.
  return Object.fromEntries(entries.map(([name, value]) => [name, value.replaceAll('\r\n', '\n')]))
}
