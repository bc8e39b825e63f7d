/** One line of the table: what came out, and what it is held against if there is a gate. */
export type Row = {
  quantity: string
  /** Why it was not measured, in its place. */
  measured: number | string
  /** The same quantity of the binary that `--before` names. */
  before?: number | string | undefined
  /** What must hold. */
  gate?: readonly ['≤' | '≥', number] | undefined
  /** What a prototype reached. */
  aim?: number
}

export const holds = ({ measured, gate }: Row): boolean | undefined => {
  if (gate === undefined || typeof measured === 'string') return undefined
  // Nothing that was measured right is less than nothing or not a number.
  return gate[0] === '≤' ? measured <= gate[1] : measured >= gate[1]
}

/** The lines of the table, with a column for the older binary when a row has a value of it. */
export function tableOf(rows: readonly Row[]): string[] {
  const compared = rows.some(({ before }) => before !== undefined)
  const names = ['quantity', ...(compared ? ['before', 'after'] : ['measured']), 'gate', 'aim', '']
  const lines = rows.map((row) => {
    const { quantity, measured, before, gate, aim } = row
    const verdict = holds(row)
    const word = verdict === undefined ? '' : verdict ? 'holds' : '**missed**'
    const values = [...(compared ? [before] : []), measured, gate?.join(' '), aim].map(wordOf)
    return [quantity, ...values, word]
  })
  return [names, names.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`)
}

const wordOf = (value: number | string | undefined): string =>
  typeof value === 'number' ? digits(value) : (value ?? '')

export const digits = (value: number): string => {
  if (Number.isInteger(value)) return value.toLocaleString('en-US')
  return value.toFixed(Math.abs(value) < 0.1 ? 4 : Math.abs(value) < 10 ? 2 : 0)
}

export function middle(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}
