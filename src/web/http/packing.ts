/** Reads Content-Encoding. */
import { refuse } from '../../kernel/refusal.ts'

const packings = ['gzip', 'zstd', 'deflate', 'br'] as const

/** How a JSON body may be packed. */
export type Packing = (typeof packings)[number]

const isPacking = (name: string): name is Packing => packings.some((one) => one === name)

/**
 * How the body of a request is packed; undefined for one that is not.
 * @throws Refusal 'unsupported_media_type' for another encoding, and for several
 */
export function packingOf({ headers }: Request): Packing | undefined {
  const header = headers.get('content-encoding')
  if (header === null) return undefined
  const names = header.toLowerCase().split(',')
  const used = names.map((name) => name.trim()).filter((name) => !/^(identity)?$/.test(name))
  const [name = '', ...others] = used
  if (name === '') return undefined
  const packing = name === 'x-gzip' ? 'gzip' : name
  if (others.length === 0 && isPacking(packing)) return packing
  refuse('unsupported_media_type', {
    message: `Send the body as it is, or packed once with ${packings.join(', ')}.`,
    headers: { 'accept-encoding': packings.join(', ') },
  })
}
