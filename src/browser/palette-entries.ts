/** The entries of the command palette, and the search among them. */

/** Goes to a page, or sends a form of the page that is open. */
export type Entry = { label: string; kind: string; href?: string; send?: HTMLFormElement }

/** Most that is listed at once. */
const listedMax = 12

/** Pages and actions, from what the page says of itself. */
export function entriesOf(pages: readonly (readonly [href: string, label: string])[]): Entry[] {
  const goes = pages.map(([href, label]) => ({ label, kind: 'Page', href }))
  const has = (href: string) => pages.some(([path]) => path === href)
  const actions: Entry[] = [{ label: 'New key', kind: 'Action', href: '/dashboard/keys/new' }]
  if (has('/dashboard/deposits')) {
    actions.push({ label: 'Add money', kind: 'Action', href: '/dashboard/deposits' })
  }
  const out = document.querySelector('form.who')
  if (out instanceof HTMLFormElement) actions.push({ label: 'Sign out', kind: 'Action', send: out })
  return [...actions, ...goes]
}

/** The keys of the account as entries; none where they cannot be read. */
export async function readKeys(): Promise<Entry[]> {
  const headers = { accept: 'application/json' }
  const answer = await fetch('/api/portal/keys?limit=100', { headers }).catch(() => undefined)
  if (!answer?.ok) return []
  const { data } = (await answer.json()) as { data: { id: string; name: string }[] }
  return data.map(({ id, name }) => ({ label: name, kind: 'Key', href: `/dashboard/keys/${id}` }))
}

/** The page of a pasted id. */
const places: Readonly<Record<string, string>> = {
  run: '/dashboard/runs/',
  rcpt: '/dashboard/receipts/',
  key: '/dashboard/keys/',
}

/** The entries that a text asks for, best first; an id leads to its own page. */
export function matching(entries: readonly Entry[], text: string): Entry[] {
  const wanted = text.trim().toLowerCase()
  const [id, prefix = ''] = /^(run|rcpt|key)_[0-9a-z]{26}$/.exec(wanted) ?? []
  const place = places[prefix]
  if (id !== undefined && place !== undefined) {
    return [{ label: `Open ${id}`, kind: 'Id', href: place + id }]
  }
  const words = wanted.split(/\s+/)
  const ranked = entries.flatMap((entry) => {
    const label = entry.label.toLowerCase()
    if (!words.every((word) => label.includes(word))) return []
    return [{ entry, rank: label.startsWith(wanted) ? 0 : 1 }]
  })
  return ranked
    .sort((a, b) => a.rank - b.rank)
    .slice(0, listedMax)
    .map(({ entry }) => entry)
}
