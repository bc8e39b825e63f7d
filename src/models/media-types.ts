/** The types of images and files that models read, told by their first bytes. Runs in browsers. */

/** How files of each type begin, and what they have at the ninth byte. */
const beginnings: Readonly<Record<string, readonly [starts: readonly string[], ninth: string]>> = {
  'image/png': [['\x89PNG\r\n\x1a\n'], ''],
  'image/jpeg': [['\xff\xd8\xff'], ''],
  'image/gif': [['GIF87a', 'GIF89a'], ''],
  'image/webp': [['RIFF'], 'WEBP'],
  'application/pdf': [['%PDF-'], ''],
}

/** Whether a file of this type begins so; `head` holds its first 12 bytes or more as Latin-1. */
export function isOfType(head: string, type: string): boolean {
  const [starts, ninth] = beginnings[type] ?? [[], '']
  return starts.some((start) => head.startsWith(start)) && head.startsWith(ninth, 8)
}

/** The type of a file that begins so; undefined for any other. */
export const mediaTypeOf = (head: string): string | undefined =>
  Object.keys(beginnings).find((type) => isOfType(head, type))
