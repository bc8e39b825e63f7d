/** Reads CSV as RFC 4180 has it. */

/** The records of a text, each a list of fields; quotes may hold commas, quotes and line breaks. */
export function readCsv(text: string): string[][] {
  const records: string[][] = []
  let record: string[] = []
  let field = ''
  let isQuoted = false
  const endField = () => {
    record.push(field)
    field = ''
  }
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    if (isQuoted) {
      if (char !== '"') field += char
      else if (text[at + 1] === '"') {
        field += '"'
        at++
      } else isQuoted = false
    } else if (char === '"') isQuoted = true
    else if (char === ',') endField()
    else if (char === '\n') {
      endField()
      records.push(record)
      record = []
    } else if (char !== '\r') field += char
  }
  if (field !== '' || record.length > 0) {
    endField()
    records.push(record)
  }
  return records
}
