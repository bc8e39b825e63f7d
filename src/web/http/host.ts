/** Checks the Host header. */
import { parseAddress } from '../../kernel/network-address.ts'

/** The address to listen on. Port 0 asks for a free port; `serve` then sets the one it got. */
export type Listen = { hostname: string; port: number }

/**
 * Tells whether a Host header names this server: base_url's host, and while it listens on loopback
 * also the loopback names with its port. Anything else is DNS rebinding, a stray proxy or a trick
 * that makes the path read differently, so nothing may be decided before this.
 */
export function hostCheck(baseUrl: string, listen: Listen): (host: string | null) => boolean {
  let port = -1
  let names = new Set<string>()
  return (host) => {
    if (host === null) return false
    if (listen.port !== port) {
      port = listen.port
      names = namesOf(baseUrl, listen)
    }
    return names.has(host) || names.has(host.toLowerCase())
  }
}

/** Whether a listening address can be reached from this machine only. */
export function isLoopback(hostname: string): boolean {
  const address = parseAddress(hostname)
  if (!address) return hostname.toLowerCase() === 'localhost'
  return address.kind === 4
    ? address.groups[0] !== undefined && address.groups[0] >> 8 === 127
    : address.groups.every((group, i) => group === (i === 7 ? 1 : 0))
}

function namesOf(baseUrl: string, listen: Listen): Set<string> {
  const base = new URL(baseUrl)
  const names = new Set([base.host])
  if (base.port === '') names.add(`${base.host}:${base.protocol === 'https:' ? 443 : 80}`)
  if (!isLoopback(listen.hostname)) return names
  const own = listen.hostname.includes(':') ? `[${listen.hostname}]` : listen.hostname.toLowerCase()
  for (const name of ['localhost', '127.0.0.1', '[::1]', own]) {
    names.add(`${name}:${listen.port}`)
    if (listen.port === 80) names.add(name)
  }
  return names
}
