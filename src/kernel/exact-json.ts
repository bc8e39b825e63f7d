/** JSON whose numbers stay as they are written. */

/** A number of a JSON text, as its source has it. */
export class NumberText {
  constructor(readonly text: string) {}
}

export type ExactJson =
  | null
  | boolean
  | string
  | NumberText
  | ExactJson[]
  | { [name: string]: ExactJson }

/** @throws SyntaxError when it is not JSON */
export function parseExactJson(text: string): ExactJson {
  return JSON.parse(text, exactly)
}

/** `source` is what the text says in this place; only primitive values have it. */
function exactly(_: string, value: unknown, { source }: { source?: string } = {}): unknown {
  if (typeof value !== 'number') return value
  if (source === undefined) throw new Error('this JSON parser does not tell the source of numbers')
  return new NumberText(source)
}

export const isExactObject = (
  value: ExactJson | undefined,
): value is { [name: string]: ExactJson } =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof NumberText)
