/** Reads lists of tables, as `[[models]]`. */

/** Reads `[[name]]`, its entries counted from 1. */
export function readList<T>(
  name: string,
  raw: unknown,
  problems: string[],
  read: (entry: unknown, where: string) => T | undefined,
): T[] {
  if (raw === undefined) return []
  if (!Array.isArray(raw)) {
    problems.push(`${name} must be a list of tables: [[${name}]]`)
    return []
  }
  const found: T[] = []
  raw.forEach((entry, index) => {
    const where = `${name}[${index + 1}]`
    const item = read(entry, where)
    if (item) found.push(item)
  })
  return found
}

export function refuseTwice(
  name: string,
  items: readonly { id: string }[],
  problems: string[],
): void {
  const ids = items.map(({ id }) => id)
  const again = ids.filter((id, index) => ids.indexOf(id) !== index)
  for (const id of again) problems.push(`${name}: "${id}" is there twice`)
}
