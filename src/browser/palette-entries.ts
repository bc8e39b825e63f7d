/** The entries of the command palette, and the search among them. */
import { deeper, newKeyPage, synonyms } from '../front/overview/palette-words.ts'

/** Goes to a page, or presses a button of the page that is open. */
export type Entry = {
  label: string
  kind: string
  href?: string
  press?: HTMLElement
  /** Other words that find it. */
  words?: string
}

type Pages = readonly (readonly [href: string, label: string])[]

/** Most that is listed at once. */
const listedMax = 12

/** Pages and actions, from what the page says of itself. */
export function entriesOf(pages: Pages): Entry[] {
  const has = (href: string) => pages.some(([path]) => path === href)
  const actions = deeper
    .filter(([needs]) => has(needs))
    .map(([, href, label]): Entry => ({ label, kind: 'Action', href, words: synonyms[href] ?? '' }))
  const goes = pages
    // It is an action already.
    .filter(([href]) => href !== newKeyPage)
    .map(([href, label]): Entry => ({ label, kind: 'Page', href, words: synonyms[href] ?? '' }))
  return [...actions, ...goes, ...buttons()]
}

/** The buttons around every page: colours and sign-out. */
function buttons(): Entry[] {
  const themes = [...document.querySelectorAll<HTMLElement>('form.theme button')].map(
    (press): Entry => ({
      label: `Colours: ${press.textContent?.toLowerCase()}`,
      kind: 'Action',
      press,
      words: 'theme mode night day',
    }),
  )
  const out = document.querySelector<HTMLElement>('form.who button')
  if (!out) return themes
  return [...themes, { label: 'Sign out', kind: 'Action', press: out, words: 'log out leave' }]
}

/** Keys, models, runs and receipts of the account; none where they cannot be read. */
export async function readObjects(pages: Pages): Promise<Entry[]> {
  const has = (href: string) => pages.some(([path]) => path === href)
  const none = Promise.resolve([])
  const read = await Promise.all([
    has('/dashboard/keys') ? readKeys() : none,
    has('/dashboard/runs') ? readRuns() : none,
    readModels(has('/dashboard/runs')),
  ])
  return read.flat()
}

async function readKeys(): Promise<Entry[]> {
  const keys = await list<{ id: string; name: string }>('/api/portal/keys?limit=100')
  return keys.flatMap(({ id, name }) => {
    const href = `/dashboard/keys/${id}`
    return [
      { label: name, kind: 'Key', href, words: id },
      { label: `Change ${name}`, kind: 'Key', href, words: 'raise cap resume rotate' },
      { label: `Pause ${name}`, kind: 'Key', href: `${href}/pause`, words: 'stop hold' },
      { label: `Revoke ${name}`, kind: 'Key', href: `${href}/revoke`, words: 'delete stop' },
    ]
  })
}

async function readRuns(): Promise<Entry[]> {
  const runs = await list<{ id: string; model: string }>('/api/portal/runs?limit=20')
  return runs.flatMap(({ id, model }) => {
    const mark = id.slice('run_'.length)
    return [
      { label: `Run ${mark}`, kind: model, href: `/dashboard/runs/${id}`, words: `${id} ${model}` },
      {
        label: `Receipt ${mark}`,
        kind: model,
        href: `/dashboard/receipts/rcpt_${mark}`,
        words: `rcpt_${mark} ${model}`,
      },
    ]
  })
}

async function readModels(seesRuns: boolean): Promise<Entry[]> {
  const models = await list<{ id: string }>('/v1/models')
  return models.map(({ id }) =>
    seesRuns
      ? { label: `Runs of ${id}`, kind: 'Model', href: `/dashboard/runs?model=${encode(id)}` }
      : { label: id, kind: 'Model', href: '/models' },
  )
}

const encode = encodeURIComponent

async function list<T>(path: string): Promise<T[]> {
  const headers = { accept: 'application/json' }
  const answer = await fetch(path, { headers }).catch(() => undefined)
  return answer?.ok ? ((await answer.json()) as { data: T[] }).data : []
}

/** The page of a pasted id. */
const places: Readonly<Record<string, string>> = {
  run: '/dashboard/runs/',
  rcpt: '/dashboard/receipts/',
  key: '/dashboard/keys/',
}

/** The entries that a text asks for, best first, of equals the ones chosen last. */
export function matching(
  entries: readonly Entry[],
  text: string,
  recent: readonly string[],
): Entry[] {
  const wanted = text.trim().toLowerCase()
  const [id, prefix = ''] = /^(run|rcpt|key)_[0-9a-z]{26}$/.exec(wanted) ?? []
  const place = places[prefix]
  if (id !== undefined && place !== undefined) {
    return [{ label: `Open ${id}`, kind: 'Id', href: place + id }]
  }
  return entries
    .map((entry) => ({ entry, rank: rankOf(entry, wanted) }))
    .filter(({ rank }) => rank < unfound)
    .sort((a, b) => a.rank - b.rank || placeOf(recent, a.entry) - placeOf(recent, b.entry))
    .slice(0, listedMax)
    .map(({ entry }) => entry)
}

/** The place among those chosen last; behind all of them for any other. */
function placeOf(recent: readonly string[], { label }: Entry): number {
  const at = recent.indexOf(label)
  return at < 0 ? recent.length : at
}

const unfound = 4

/** The label's beginning comes before a word in it, that before another name of the same. */
function rankOf({ label, words = '' }: Entry, wanted: string): number {
  const name = label.toLowerCase()
  if (name.startsWith(wanted)) return 0
  const parts = wanted.split(/\s+/)
  if (parts.every((part) => name.includes(part))) return 1
  const all = `${name} ${words.toLowerCase()}`
  if (` ${words.toLowerCase()}`.includes(` ${wanted}`)) return 2
  return parts.every((part) => all.includes(part)) ? 3 : unfound
}
