/** The actions of people beside runs: keys, money, plans and passports. */
import { scopes } from '../../access/keys/key.ts'
import type { OwnKey, People, Person } from './people.ts'

const dayMs = 86_400_000

type LivesOptions = {
  name: string
  /** Most in one window, in USD. */
  cap: number
  window?: 'lifetime' | 'day' | 'week' | 'month'
  parent?: OwnKey
  more?: object
}

/** Makes a key of a person in the dashboard. */
export async function makeKey(person: Person, wish: LivesOptions): Promise<OwnKey> {
  const { name, cap, window = 'month', parent, more } = wish
  const made = await person.portal('/keys', {
    name,
    cap: { limit_nusd: Math.round(cap * 1e9), window },
    ...(parent ? { parent_id: parent.id } : {}),
    ...more,
  })
  const key = { id: made.id, name, secret: made.secret }
  person.keys.push(key)
  return key
}

/** A step of a person's month: when, as a share of it, and what. */
export type Step = { at: number; act: () => Promise<unknown> }

export type Cast = {
  people: People
  /** Gives a person so many dollars. */
  pay: (person: Person, dollars: number) => Promise<unknown>
  now: () => number
  /** Steps beside those that every month has. */
  more?: readonly Step[] | undefined
}

/** All steps, in their order. Those at 0 come before the first run. */
export function stepsOf({ people, pay, now, more = [] }: Cast): Step[] {
  const [ada, ben, cleo] = people
  const named = ({ keys }: Person, name: string): OwnKey => {
    const key = keys.find((one) => one.name === name)
    if (!key) throw new Error(`there is no key ${name}`)
    return key
  }
  const after = (days: number) => new Date(now() + days * dayMs).toISOString()
  const rotate = async (key: OwnKey): Promise<void> => {
    key.secret = (await ada.portal(`/keys/${key.id}/rotate`, {})).secret
  }
  /** Ben pays ada's bills too. */
  const invite = async (): Promise<void> => {
    const { link } = await ada.portal('/members/invite', { role: 'billing' })
    await ben.portal('/members/accept', { token: new URL(link).searchParams.get('token') })
  }
  const steps: Step[] = [
    { at: 0, act: () => pay(ada, 30) },
    { at: 0, act: () => pay(ben, 25) },
    { at: 0, act: () => pay(cleo, 8.5) },
    { at: 0.01, act: () => keysOfAda(ada, after) },
    { at: 0.01, act: () => keysOfBen(ben) },
    { at: 0.02, act: () => makeKey(cleo, { name: 'notebook', cap: 5, more: { scopes } }) },
    { at: 0.02, act: () => ada.portal('/settings', { retention: '30d' }) },
    { at: 0.03, act: invite },
    { at: 0.03, act: () => publish(ada, 'harbor-support', 'Harbor Support', ['support agent']) },
    { at: 0.1, act: () => ada.portal('/plans/builder/subscribe', {}) },
    { at: 0.15, act: () => publish(cleo, 'cleo-writes', 'Cleo', ['notebook']) },
    { at: 0.2, act: () => publish(ben, 'papertrail', 'Papertrail', ['importer']) },
    { at: 0.3, act: () => pay(ada, 12.5) },
    { at: 0.42, act: () => ben.portal('/plans/builder/subscribe', {}) },
    { at: 0.5, act: () => pay(ben, 0.004) },
    { at: 0.55, act: () => ada.portal('/passports/harbor-support/statement', {}) },
    { at: 0.6, act: () => pay(ada, 20) },
    { at: 0.65, act: () => ada.portal(`/keys/${named(ada, 'staging').id}/pause`, {}) },
    { at: 0.7, act: () => ben.portal(`/keys/${named(ben, 'old laptop').id}/revoke`, {}) },
    { at: 0.8, act: () => ben.portal('/plans/cancel', {}) },
    { at: 0.85, act: () => rotate(named(ada, 'nightly reports')) },
    { at: 0.97, act: () => pay(cleo, 12) },
  ]
  return [...steps, ...more].sort((a, b) => a.at - b.at)
}

async function keysOfAda(ada: Person, after: (days: number) => string): Promise<void> {
  const production = await makeKey(ada, {
    name: 'production',
    cap: 12,
    more: { scopes, tags: { env: 'production' } },
  })
  const below = { parent: production, window: 'day' as const }
  const brake = { nusd_per_minute: 2_000_000_000, nusd_per_hour: 20_000_000_000 }
  const shares = { scopes: scopes.filter((scope) => scope !== 'keys:mint') }
  await makeKey(ada, { ...below, name: 'support agent', cap: 0.75, more: shares })
  await makeKey(ada, { ...below, name: 'nightly reports', cap: 0.5, more: { limits: { brake } } })
  const review = await makeKey(ada, { ...below, name: 'code review', cap: 0.6 })
  const europe = {
    models: ['acme/*', 'borealis/*', 'cobalt/*'],
    limits: { rpm: 60, concurrency: 4 },
  }
  await makeKey(ada, { ...below, parent: review, name: 'reviewer eu', cap: 0.15, more: europe })
  await makeKey(ada, { name: 'staging', cap: 2, window: 'lifetime' })
  const demo = { expires_at: after(6) }
  await makeKey(ada, { name: 'demo day', cap: 0.5, window: 'lifetime', more: demo })
  const trip = { limits: { brake: { nusd_per_minute: 90_000_000 } } }
  await makeKey(ada, { name: 'crawler 01', cap: 1, window: 'week', more: trip })
}

async function keysOfBen(ben: Person): Promise<void> {
  await makeKey(ben, { name: 'importer', cap: 4, more: { scopes } })
  await makeKey(ben, { name: 'old laptop', cap: 1, window: 'lifetime' })
  await makeKey(ben, { name: 'weekend project', cap: 0.4, window: 'week' })
}

/** Makes a passport, shows it to everybody, and lets keys name it. */
async function publish(person: Person, handle: string, shown: string, keys: string[]) {
  const kind = person.name === 'Cleo' ? 'person' : person.name === 'Ben' ? 'service' : 'agent'
  const bio = bios[kind] ?? ''
  const links = [`https://${handle}.example`]
  const wish = { handle, display_name: shown, kind, bio, links, show_owner: kind === 'person' }
  await person.portal('/passports', wish)
  await person.portal(`/passports/${handle}/publish`, {})
  for (const key of person.keys.filter(({ name }) => keys.includes(name))) {
    await person.portal(`/passports/${handle}/bind`, { key_id: key.id })
  }
}

const bios: Record<string, string> = {
  agent: 'Answers questions about orders and invoices, and says when it does not know.',
  person: 'Writes about harbours, ships and the people who work there.',
  service: 'Turns piles of paper into rows of a table.',
}
