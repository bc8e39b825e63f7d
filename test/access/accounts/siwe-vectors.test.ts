import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { isSignatureOf } from '../../../src/access/accounts/sign-in.ts'
import { checkSite, checkTimes, parseSiwe } from '../../../src/access/accounts/siwe.ts'
import { Refusal } from '../../../src/kernel/refusal.ts'
import { promise } from '../../support/promise.ts'
import { rejectionOf } from '../../support/rejection.ts'

const folder = process.env['VECTORS_DIR']
if (!folder) console.warn('left out: the vectors of EIP-4361 (VECTORS_DIR is not set)')

const read = async <T>(name: string): Promise<[name: string, value: T][]> =>
  folder ? Object.entries(await Bun.file(join(folder, 'siwe', `${name}.json`)).json()) : []

type Fields = Record<string, unknown>
/** A signed message, with what it is to be compared with. */
type Signed = Fields & {
  signature: string
  address: string
  domain: string
  nonce: string
  domainBinding?: string
  matchNonce?: string
  time?: string
}

const positive = await read<{ message: string; fields: Fields }>('parsing_positive')
const negative = await read<string>('parsing_negative')
const objects = await read<Fields>('parsing_negative_objects')
const verified = await read<Signed>('verification_positive')
const refused = await read<Signed>('verification_negative')

promise`B1 H: The published texts of EIP-4361 are read, refused and verified as published.`
describe.skipIf(!folder)('EIP-4361 vectors (VECTORS_DIR)', () => {
  test('there are as many as were published', () => {
    const counts = [positive, negative, objects, verified, refused].map(({ length }) => length)
    expect(counts).toEqual([19, 29, 18, 4, 10])
  })

  test.each(positive)('The parser reads the vector: %s.', async (_, { message, fields }) => {
    const parsed = await parseSiwe(message)
    for (const [name, value] of Object.entries(fields)) {
      expect(parsed[name as keyof typeof parsed] ?? null).toEqual(value as never)
    }
  })

  test.each(negative)('The parser refuses the vector: %s.', async (_, message) => {
    expect(await rejectionOf(parseSiwe(message))).toBeInstanceOf(Refusal)
  })

  test.each(objects)('refuses to read, written out: %s', async (_, fields) => {
    expect(await rejectionOf(parseSiwe(writeOut(fields)))).toBeInstanceOf(Refusal)
  })

  test.each(verified)('is signed and in time: %s', async (_, signed) => {
    expect(await isGood(signed)).toBe(true)
  })

  test.each(refused)('is not signed or not in time: %s', async (_, signed) => {
    expect(await isGood(signed)).toBe(false)
  })

  promise`B3`
  test('none of those that were verified elsewhere is one to sign in here with', async () => {
    for (const [, signed] of verified) {
      const parsed = await parseSiwe(textOf(signed))
      expect(() => checkSite(parsed, `https://${signed.domain}`)).toThrow(Refusal)
    }
  })
})

/** Without our own chain and site, which these messages are not for. */
async function isGood(signed: Signed): Promise<boolean> {
  const message = textOf(signed)
  try {
    const parsed = await parseSiwe(message)
    checkTimes(parsed, Date.parse(signed.time ?? '2022-03-01T00:00:00Z'))
    const { address, domain, nonce } = parsed
    if (domain !== (signed.domainBinding ?? domain)) return false
    if (nonce !== (signed.matchNonce ?? nonce)) return false
    return await isSignatureOf({ address, message, signature: signed.signature })
  } catch (error) {
    if (error instanceof Refusal) return false
    throw error
  }
}

const textOf = ({ signature, domainBinding, matchNonce, time, ...fields }: Signed): string =>
  writeOut(fields)

/** The fields as a text; one that is not there is left out with its line. */
function writeOut(fields: Fields): string {
  const line = (label: string, value: unknown) =>
    value === undefined ? [] : [`${label}: ${String(value)}`]
  return [
    `${String(fields['domain'] ?? '')} wants you to sign in with your Ethereum account:`,
    String(fields['address'] ?? ''),
    fields['statement'] === undefined ? '\n' : `\n${String(fields['statement'])}\n`,
    ...line('URI', fields['uri']),
    ...line('Version', fields['version']),
    ...line('Chain ID', fields['chainId']),
    ...line('Nonce', fields['nonce']),
    ...line('Issued At', fields['issuedAt']),
    ...line('Expiration Time', fields['expirationTime']),
    ...line('Not Before', fields['notBefore']),
    ...line('Request ID', fields['requestId']),
    ...(Array.isArray(fields['resources'])
      ? ['Resources:', ...fields['resources'].map(String)]
      : []
    ).map((one, i) => (i === 0 ? one : `- ${one}`)),
  ].join('\n')
}
