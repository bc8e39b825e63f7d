/** Lists the lines of a slip that only the page of the receipt shows. */
export const leftOut: ReadonlySet<string> = new Set([
  'Route',
  'Key',
  'Input hash',
  'Output hash',
  'Commitments',
])
