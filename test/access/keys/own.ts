import { expect } from 'bun:test'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { usd, type World } from '../../support/world.ts'
import { browser, signInWith } from '../accounts/wallet.ts'

export const dollar = Number(usd)

/** A new account, signed in, with callers that act as a browser, htmx and a script. */
export async function signedIn(service: World) {
  const wallet = privateKeyToAccount(generatePrivateKey())
  const own = browser(service)
  expect((await signInWith(own, wallet)).status).toBe(200)
  const form = (path: string, fields: Record<string, string>, headers: Record<string, string>) =>
    own.call(path, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body: new URLSearchParams(fields).toString(),
    })
  const html = { accept: 'text/html' }
  return {
    account: wallet.address.toLowerCase(),
    call: own.call,
    /** A page as a plain browser gets it. */
    page: (path: string) => own.call(path, { headers: html }),
    /** A form as a plain browser sends it. */
    send: (path: string, fields: Record<string, string> = {}) => form(path, fields, html),
    /** The same, as htmx sends it. */
    swap: (path: string, fields: Record<string, string> = {}, from?: string) =>
      form(path, fields, {
        ...html,
        'hx-request': 'true',
        ...(from ? { 'hx-current-url': service.origin + from } : {}),
      }),
    /** The same, as a browser sends it whose address bar will show where it was sent. */
    navigate: (path: string, fields: Record<string, string> = {}) =>
      form(path, fields, { ...html, 'sec-fetch-mode': 'navigate' }),
    json: (path: string, json?: unknown) =>
      json === undefined
        ? own.call(path, { method: 'POST', headers: { accept: 'application/json' } })
        : own.call(path, { json, headers: { accept: 'application/json' } }),
    get: async (path: string) => (await own.call(path)).json(),
  }
}

export type Own = Awaited<ReturnType<typeof signedIn>>

/** The secret that a page shows, if it shows one. */
export const secretIn = (html: string): string | undefined =>
  /<output[^>]*>(sk-service-\w{49})<\/output>/.exec(html)?.[1]

/** A hidden field of a page. */
export const hiddenIn = (html: string, name: string): string =>
  new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? ''

/** What stands as the error of a field. */
export const errorIn = (html: string, id: string): string | undefined =>
  new RegExp(`id="${id}-error">([^<]*)<`).exec(html)?.[1]
