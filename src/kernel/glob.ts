/** Globs over names: `*` stands for any run of characters. */

/** Whether a glob such as `acme/*` covers a name. Takes linear time for each `*`. */
export function matchesGlob(glob: string, name: string): boolean {
  const [head = '', ...parts] = glob.split('*')
  if (parts.length === 0) return glob === name
  const tail = parts.pop() ?? ''
  if (!name.startsWith(head) || name.length < head.length + tail.length) return false
  let at = head.length
  for (const part of parts) {
    const found = name.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return name.endsWith(tail) && at + tail.length <= name.length
}
