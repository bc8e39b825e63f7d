import { parseSound } from '../http/body.ts'
import type { Fields } from '../http/form.ts'
import type { Json } from '../kernel/canonical.ts'
import { Refusal } from '../kernel/refusal.ts'
import { sectionNames } from '../verify/receipt.ts'
import { textNames } from './share.ts'

/** What a form says of a share, by the names of its fields. */
export type ShareForm = Readonly<Record<string, string>>

/**
 * The body of a share as `/v1` takes it, from JSON as it is or from a form: a box is called
 * `sections.run`, a text `disclosures.input.value` and holds JSON. A form that names no section at
 * all leaves the choice to us; one that names `sections` shows those that are ticked.
 * @throws Refusal 'invalid_request' for a text that is no JSON
 */
export function shareBodyOf({ value, isForm }: Fields): Json {
  if (!isForm) return value
  const form = value as ShareForm
  const has = (name: string): boolean => (form[name] ?? '') !== ''
  const listed = (form['sections'] ?? '').split(',').filter((name) => name !== '')
  const ticked = sectionNames.filter((name) => has(`sections.${name}`))
  const asksSections = 'sections' in form || ticked.length > 0
  const reveal = textNames.filter((name) => has(`reveal.${name}`))
  const given = reveal.filter((name) => has(fieldOf(name)))
  const disclosures = Object.fromEntries(
    given.map((name) => [name, { value: parseText(fieldOf(name), form[fieldOf(name)] ?? '') }]),
  )
  return {
    ...(form['visibility'] === undefined ? {} : { visibility: form['visibility'] }),
    ...(asksSections ? { sections: [...new Set([...listed, ...ticked])] } : {}),
    ...(reveal.length > 0 ? { reveal } : {}),
    ...(given.length > 0 ? { disclosures } : {}),
  }
}

/** The field that a text is pasted into. */
export const fieldOf = (name: 'input' | 'output'): string => `disclosures.${name}.value`

function parseText(param: string, text: string): Json {
  try {
    return parseSound(text)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const message = 'This is no JSON. Paste the request or the choices exactly as they were sent.'
    throw new Refusal('invalid_request', { param, message })
  }
}
