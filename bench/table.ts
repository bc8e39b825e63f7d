/** One line of the table: what came out, and what it is held against if there is a target. */
export type Row = {
  quantity: string
  /** Why it was not measured, in its place. */
  measured: number | string
  target?: readonly ['≤' | '≥', number] | undefined
}

export const holds = ({ measured, target }: Row): boolean | undefined => {
  if (target === undefined || typeof measured === 'string') return undefined
  // Nothing that was measured right is less than nothing or not a number.
  return target[0] === '≤' ? measured <= target[1] : measured >= target[1]
}

export function printTable(rows: readonly Row[]): void {
  console.log('\n| quantity | measured | target | |\n|---|---|---|---|')
  for (const row of rows) {
    const { quantity, measured, target } = row
    const value = typeof measured === 'string' ? measured : digits(measured)
    const verdict = holds(row)
    const word = verdict === undefined ? '' : verdict ? 'holds' : '**missed**'
    console.log(`| ${[quantity, value, target?.join(' ') ?? '', word].join(' | ')} |`)
  }
}

export const digits = (value: number): string => {
  if (Number.isInteger(value)) return value.toLocaleString('en-US')
  return value.toFixed(Math.abs(value) < 0.1 ? 4 : Math.abs(value) < 10 ? 2 : 0)
}

export function middle(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}
