/** The form of a share: its fields, and the body they stand for. */
/** The form of a share, turned into the body that `/v1` takes. */
import { Type } from '@sinclair/typebox'
import type { Json } from '../../../kernel/canonical.ts'
import { Refusal } from '../../../kernel/refusal.ts'
import { sectionNames } from '../../../verify/receipt.ts'
import { parseSound } from '../../../web/http/body.ts'
import type { Fields } from '../../../web/http/fields.ts'
import * as t from '../../../web/http/shape.ts'
import { visibilities } from '../receipts.ts'
import { textNames } from '../share.ts'

/** The field that a text is pasted into. */
export const fieldOf = (name: 'input' | 'output'): string => `disclosures.${name}.value`

const field = (about: string, example: string) => Type.Optional(t.text(about, example))
const boxes = [
  ...sectionNames.map((name) => [`sections.${name}`, `the section \`${name}\``] as const),
  ...textNames.map((name) => [`reveal.${name}`, `the text of the ${name}`] as const),
]

/** The fields of the form of a share. */
export const shareForm = t.answer('ShareForm', 'How a receipt is to be shown, as a form.', {
  visibility: t.oneOf('Who may see it.', visibilities),
  sections: field('Sections with commas; or the boxes below.', 'run,charge'),
  ...Object.fromEntries(
    boxes.map(([name, what]) => [name, field(`Any text: the box that shows ${what}.`, 'true')]),
  ),
  ...Object.fromEntries(
    textNames.map((name) => [
      fieldOf(name),
      field(`The ${name} as JSON, where it is not kept.`, '[]'),
    ]),
  ),
})

/** The fields of a share form, by name. */
export type ShareForm = Readonly<Record<string, string>>

/**
 * The body of a share as `/v1` takes it, from JSON as it is or from a form: a box is called
 * `sections.run`, a text `disclosures.input.value` and holds JSON. A form that names no section at
 * all leaves the choice to us; one that names `sections` shows those that are ticked.
 * @throws Refusal 'invalid_request' for a text that is not JSON
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

function parseText(param: string, text: string): Json {
  try {
    return parseSound(text)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const message = 'This is not JSON. Paste the request or the choices exactly as they were sent.'
    throw new Refusal('invalid_request', { param, message })
  }
}
