/** Reads and prints IP addresses. */
import { isIP } from 'node:net'

/** An address as 16-bit groups: two of IPv4, eight of IPv6. IPv4-mapped ones are IPv4. */
export type Address = { kind: 4 | 6; groups: number[] }

/** Reads an IPv4 or IPv6 address, with a zone dropped and brackets allowed; undefined otherwise. */
export function parseAddress(text: string): Address | undefined {
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text
  const kind = isIP(bare)
  if (kind === 4) return { kind: 4, groups: ipv4Groups(bare) }
  if (kind !== 6) return undefined
  const groups = ipv6Groups(bare.replace(/%.*$/, ''))
  const mapped = groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0)
  return mapped ? { kind: 4, groups: groups.slice(6) } : { kind: 6, groups }
}

export function formatAddress({ kind, groups }: Address): string {
  if (kind === 4) return groups.flatMap((group) => [group >> 8, group & 255]).join('.')
  return groups.map((group) => group.toString(16)).join(':')
}

function ipv4Groups(text: string): number[] {
  const [a = 0, b = 0, c = 0, d = 0] = text.split('.').map(Number)
  return [(a << 8) | b, (c << 8) | d]
}

function ipv6Groups(text: string): number[] {
  const [head = '', tail] = text.split('::')
  const front = hextets(head)
  const back = tail === undefined ? [] : hextets(tail)
  return [...front, ...Array<number>(8 - front.length - back.length).fill(0), ...back]
}

const hextets = (text: string): number[] =>
  text === ''
    ? []
    : text
        .split(':')
        .flatMap((part) => (part.includes('.') ? ipv4Groups(part) : [parseInt(part, 16)]))
