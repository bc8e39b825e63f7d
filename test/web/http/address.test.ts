import { describe, expect, test } from 'bun:test'
import { parseAddress } from '../../../src/kernel/network-address.ts'
import { clientAddress, rateKey, trustedProxies } from '../../../src/web/http/client-address.ts'
import { promise } from '../../support/promise.ts'

const trusted = trustedProxies(['10.0.0.0/8', '192.0.2.1', 'fd00::/8', '2001:db8::7'])
const from = (address: string | null) => ({ requestIP: () => (address ? { address } : null) })
const call = (peer: string | null, forwarded?: string | [string, string]) => {
  const request = new Request('http://localhost/')
  for (const value of [forwarded ?? []].flat()) request.headers.append('x-forwarded-for', value)
  return clientAddress(request, from(peer), trusted)
}

promise`J1 H: The address of a client is its peer's, unless a trusted proxy vouches for another.`
describe('the address of the caller', () => {
  const table: [string, string | null, string | [string, string] | undefined, string][] = [
    ['a stranger is itself', '203.0.113.9', undefined, '203.0.113.9'],
    ['a stranger that claims another', '203.0.113.9', '1.1.1.1', '203.0.113.9'],
    ['a proxy that says nothing', '10.1.2.3', undefined, '10.1.2.3'],
    ['through one proxy', '10.1.2.3', '203.0.113.9', '203.0.113.9'],
    ['through two proxies', '10.1.2.3', '203.0.113.9, 10.9.9.9', '203.0.113.9'],
    ['a client that made up a chain', '10.1.2.3', '1.1.1.1, 203.0.113.9', '203.0.113.9'],
    ['made up, ending in a proxy', '10.1.2.3', '1.1.1.1, 203.0.113.9, 10.0.0.1', '203.0.113.9'],
    ['only proxies', '10.1.2.3', '10.0.0.1, 192.0.2.1', '10.1.2.3'],
    ['two headers are one chain', '10.1.2.3', ['1.1.1.1', '203.0.113.9'], '203.0.113.9'],
    ['with a port', '10.1.2.3', '203.0.113.9:4711', '203.0.113.9'],
    ['IPv6 in brackets', '10.1.2.3', '[2001:db8::1]', '2001:db8:0:0:0:0:0:1'],
    ['IPv6 in brackets with a port', '10.1.2.3', '[2001:db8::1]:443', '2001:db8:0:0:0:0:0:1'],
    ['bare IPv6', '10.1.2.3', '2001:db8::1', '2001:db8:0:0:0:0:0:1'],
    ['unknown', '10.1.2.3', 'unknown', '10.1.2.3'],
    ['malformed at the right', '10.1.2.3', '203.0.113.9, nonsense', '10.1.2.3'],
    ['an empty entry', '10.1.2.3', '203.0.113.9,', '10.1.2.3'],
    ['out of range', '10.1.2.3', '999.0.0.1', '10.1.2.3'],
    ['a mapped peer is IPv4', '::ffff:203.0.113.9', '1.1.1.1', '203.0.113.9'],
    ['a mapped proxy is trusted', '::ffff:10.1.2.3', '203.0.113.9', '203.0.113.9'],
    ['an IPv6 proxy', 'fd12::1', '203.0.113.9', '203.0.113.9'],
    ['beside a trusted single address', '192.0.2.2', '203.0.113.9', '192.0.2.2'],
    ['a trusted single IPv6', '2001:db8:0:0::7', '203.0.113.9', '203.0.113.9'],
    ['a mapped client', '10.1.2.3', '::ffff:203.0.113.9', '203.0.113.9'],
    ['no peer', null, '203.0.113.9', 'unknown'],
  ]
  test.each(table)('The caller’s address is found: %s.', (_, peer, forwarded, expected) => {
    expect(call(peer, forwarded)).toBe(expected)
  })
})

promise`J2 H: An IPv6 network of /64 is one client, and an IPv4 address one in either form.`
describe('what a client is counted under', () => {
  test.each([
    ['203.0.113.9', '203.0.113.9'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['::ffff:cb00:7109', '203.0.113.9'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:1:2::', '2001:db8:1:2::/64'],
    ['2001:db8:1:2:ffff::1', '2001:db8:1:2::/64'],
    ['2001:db8:1:3::1', '2001:db8:1:3::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['nonsense', 'unknown'],
  ])('The address %s is counted as %s.', (address, key) => {
    expect(rateKey(address)).toBe(key)
  })
})

describe('reading addresses', () => {
  test.each([
    '',
    '1.2.3',
    '1.2.3.4.5',
    '01.2.3.4',
    '1.2.3.4 ',
    ':::',
    '12345::',
    '1:2:3:4:5:6:7:8:9',
  ])('The text %j is not an address.', (text) => {
    expect(parseAddress(text)).toBeUndefined()
  })
  test.each([
    '10.0.0.0/33',
    '10.0.0.0/',
    'fd00::/129',
    '10.0.0.0/8/8',
    'example.com',
    '10.0.0.0/-1',
  ])('trusted_proxies %j is refused by name', (entry) => {
    expect(() => trustedProxies([entry])).toThrow(entry)
  })
  test('/0 trusts a whole family only', () => {
    const all = trustedProxies(['0.0.0.0/0'])
    expect(all({ kind: 4, groups: [1, 2] })).toBe(true)
    expect(all({ kind: 6, groups: [1, 2, 3, 4, 5, 6, 7, 8] })).toBe(false)
  })
})
