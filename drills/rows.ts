/** Where the figures of each form stand. */
export type Columns = { csv: true; jsonl: true; focus: true }

export type ReadExport = {
  bytes: number
  /** SHA-256 of all bytes. */
  digest: string
  /** Lines but for the header; in FOCUS a run has one for each of its meters. */
  records: number
  runs: number
  nusd: bigint
  /** What is wrong with it, each kind once. */
  faults: string[]
}

/** Every column that FOCUS 1.2 calls mandatory for a cost and usage dataset. */
const mandatory =
  'BilledCost BillingAccountId BillingAccountName BillingCurrency BillingPeriodEnd ' +
  'BillingPeriodStart ChargeCategory ChargeClass ChargeDescription ChargePeriodEnd ' +
  'ChargePeriodStart ContractedCost EffectiveCost InvoiceIssuerName ListCost PricingQuantity ' +
  'PricingUnit ProviderName PublisherName ServiceCategory ServiceName'

const formula = /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/

/** Reads an export as it comes and keeps sums only. */
export async function readExport(
  body: ReadableStream<Uint8Array>,
  format: keyof Columns,
): Promise<ReadExport> {
  const hash = new Bun.CryptoHasher('sha256')
  const decoder = new TextDecoder()
  const faults = new Set<string>()
  const sums = { bytes: 0, records: 0, runs: 0, nusd: 0n }
  const take = format === 'jsonl' ? jsonTaker(sums) : csvTaker(format, sums, faults)
  let rest = ''
  for await (const bytes of body) {
    hash.update(bytes)
    sums.bytes += bytes.length
    rest = take(rest + decoder.decode(bytes, { stream: true }))
  }
  if (rest !== '') faults.add(`ends in the middle of a record: ${rest.slice(0, 40)}`)
  return { ...sums, digest: hash.digest('hex'), faults: [...faults] }
}

type Sums = Pick<ReadExport, 'records' | 'runs' | 'nusd'>
/** Takes the whole records of a text and gives back the rest of it. */
type Take = (text: string) => string

function jsonTaker(sums: Sums): Take {
  return (text) => {
    const lines = text.split('\n')
    const rest = lines.pop() ?? ''
    for (const line of lines) {
      const row = JSON.parse(line)
      // The last line is the manifest.
      if (row.type !== undefined) continue
      sums.records++
      sums.runs++
      sums.nusd += BigInt(row.cost_nusd)
    }
    return rest
  }
}

function csvTaker(format: 'csv' | 'focus', sums: Sums, faults: Set<string>): Take {
  let header: string[] | undefined
  let last = ''
  const place = (name: string) => header?.indexOf(name) ?? -1
  const takeRecord = (fields: string[]): void => {
    if (!header) {
      header = fields
      const missing = mandatory.split(' ').filter((name) => !fields.includes(name))
      if (format === 'focus' && missing.length > 0) faults.add(`lacks ${missing}`)
      return
    }
    if (fields.length !== header.length) faults.add(`a record has ${fields.length} fields`)
    if (fields.some((field) => formula.test(field))) faults.add('a field would run as a formula')
    sums.records++
    const run = fields[place(format === 'csv' ? 'run_id' : 'x_RunId')] ?? ''
    // The log's order keeps the lines of a run together.
    if (run !== last) sums.runs++
    last = run
    const cost = fields[place(format === 'csv' ? 'cost_usd' : 'BilledCost')] ?? ''
    sums.nusd += nanoOf(cost)
  }
  return (text) => {
    let from = 0
    for (;;) {
      const end = endOfRecord(text, from)
      if (end === -1) return text.slice(from)
      takeRecord(fieldsOf(text.slice(from, end)))
      from = end + 2
    }
  }
}

/** Where the CRLF of the record stands that begins at `from`; -1 when it is not there yet. */
function endOfRecord(text: string, from: number): number {
  let at = from
  for (;;) {
    const end = text.indexOf('\r\n', at)
    if (end === -1) return -1
    // Inside of quotes the number of quotes before it is odd.
    let quotes = 0
    for (let i = text.indexOf('"', from); i !== -1 && i < end; i = text.indexOf('"', i + 1))
      quotes++
    if (quotes % 2 === 0) return end
    at = end + 2
  }
}

function fieldsOf(record: string): string[] {
  if (!record.includes('"')) return record.split(',')
  const fields: string[] = []
  let at = 0
  while (at <= record.length) {
    if (record[at] !== '"') {
      const end = record.indexOf(',', at)
      fields.push(record.slice(at, end === -1 ? undefined : end))
      if (end === -1) break
      at = end + 1
      continue
    }
    let end = at + 1
    while (record[end] !== '"' || record[end + 1] === '"') end += record[end] === '"' ? 2 : 1
    fields.push(record.slice(at + 1, end).replaceAll('""', '"'))
    if (end + 1 >= record.length) break
    at = end + 2
  }
  return fields
}

/** Nano-USD of an exact decimal amount. */
function nanoOf(usd: string): bigint {
  const [whole = '', decimals = ''] = usd.split('.')
  return BigInt(whole + decimals.padEnd(9, '0'))
}
