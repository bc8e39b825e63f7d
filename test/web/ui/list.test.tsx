import { describe, expect, test } from 'bun:test'
import { Refusal } from '../../../src/kernel/refusal.ts'
import { declareQuery, pageFields, rowFields, text } from '../../../src/web/http/query-fields.ts'
import { Confirm, ConfirmPage } from '../../../src/web/ui/confirm.tsx'
import { errorOf, fieldsOf, Refused } from '../../../src/web/ui/form.tsx'
import { renderChild } from '../../../src/web/ui/jsx-runtime.ts'
import { isFollowed, type Listed, ListPage, readListed } from '../../../src/web/ui/list-page.tsx'
import { List, nextOf } from '../../../src/web/ui/paged-list.tsx'

type Row = { id: string }

const columns = [{ head: 'Id', cell: ({ id }: Row) => id }]
const plain = { id: 'rows', title: 'All rows', noun: 'rows', columns, href: '/rows', hash: 'ab' }

const html = (more: Partial<Parameters<typeof List<Row>>[0]> = {}): string =>
  renderChild(<List {...plain} items={[{ id: 'a' }]} {...more} />)

describe('a list', () => {
  test('the last page links no older one, and the first one no newer one', () => {
    expect(html()).not.toContain('<footer>')
    expect(html()).not.toContain('Newest')
    expect(html()).not.toContain('rel="next"')
  })

  test('a page with a next one links it, with the filter of the address', () => {
    expect(html({ next: 'b' })).toContain('href="/rows?after=b"')
    const filtered = html({ next: 'b', href: '/rows?state=x', isFirst: false })
    expect(filtered).toContain('href="/rows?state=x&amp;after=b"')
    expect(filtered).toContain('href="/rows?state=x"')
    expect(filtered).toContain('rel="next">Older</a>')
  })

  test('an empty first page has its own words and no foot', () => {
    const empty = html({ items: [], empty: { title: 'No rows yet', text: 'Add one.' } })
    expect(empty).toContain('No rows yet')
    expect(empty).not.toContain('<footer>')
  })

  test('an empty page behind others leads back to the newest', () => {
    const empty = html({ items: [], isFirst: false, empty: { title: 'No rows yet', text: '' } })
    expect(empty).toContain('No older rows')
    expect(empty).toContain('Show the newest')
  })

  test('a page without a match before the end leads on to older rows', () => {
    const empty = html({ items: [], next: 'b', passed: 4000, clear: '/rows' })
    expect(empty).toContain('None of the 4,000 newest rows matches.')
    expect(empty).toContain('Search older rows')
  })

  test('a filter that matches nothing can be cleared', () => {
    expect(html({ items: [], clear: '/rows' })).toContain('Show all rows')
  })

  test('the next page begins after the last row, if there is one', () => {
    expect(nextOf({ items: [{ id: 'a' }, { id: 'b' }], hasMore: true })).toBe('b')
    expect(nextOf({ items: [{ id: 'a' }], hasMore: false })).toBeUndefined()
  })
})

describe('a list page', () => {
  const rowQuery = declareQuery({
    model: text('Only those of a model.', 'm', { label: 'Model' }),
    ...rowFields('a'),
    ...pageFields('a'),
  })
  const look = {
    path: '/dashboard/rows',
    noun: 'rows',
    zone: 'UTC',
    about: 'All of them.',
    query: rowQuery,
    choices: { model: [{ value: 'm', label: 'M' }] },
    columns,
    idOf: ({ id }: Row) => id,
    isOpen: ({ id }: Row) => id === 'a',
    passed: 4000,
    first: 'Soon.',
  }
  const read = (query: string, rows: () => Promise<Row[]> = () => Promise.resolve([{ id: 'a' }])) =>
    readListed(
      { account: 'ab', now: 0, query: new URLSearchParams(query), of: rowQuery },
      async () => ({ items: await rows(), next: undefined }),
    )
  const page = (view: Listed<Row>): string =>
    renderChild(<ListPage view={view} look={look} />).replaceAll('&amp;', '&')

  test('the form shows what the address asks for, and keeps nothing else', async () => {
    const view = await read('model=gone&last=7d&other=1&tag=')
    expect(view.query.toString()).toBe('model=gone&last=7d')
    expect(page(view)).toContain('<option value="gone" selected')
    expect(page(view)).toContain('Matching rows')
  })

  test('the newest page follows its newest row and the open ones', async () => {
    expect(page(await read('model=m'))).toContain(
      'data-stream="/api/portal/rows/live?model=m&since=a&open=a"',
    )
  })

  test('an older page, a named row and an order by cost stay as they are', async () => {
    for (const query of ['after=b', 'id=a', 'sort=costliest']) {
      expect(isFollowed(await read(query))).toBe(false)
    }
  })

  test('the file has all matches, whatever the order and the size of the page', async () => {
    expect(page(await read('model=m&sort=costliest&limit=50'))).toContain(
      'href="/dashboard/rows.csv?model=m"',
    )
  })

  test('an invalid filter is shown in place of the list, with the form as it was', async () => {
    const view = await read('model=x', () =>
      Promise.reject(new Refusal('invalid_request', { message: 'Bad.' })),
    )
    expect(page(view)).toContain('Bad.')
    expect(page(view)).toContain('<option value="x" selected')
  })

  test('a failure that is not about the filter is thrown', async () => {
    const failed = await read('', () => Promise.reject(new Error('gone'))).catch(String)
    expect(failed).toBe('Error: gone')
  })
})

describe('a confirmation', () => {
  const asked = {
    id: 'end',
    title: 'End it?',
    consequence: 'It ends.',
    action: '/end',
    button: 'End it',
    keep: 'Keep it',
    keepHref: '/it',
  }

  test('the page has the title and the panel that htmx gets alone', () => {
    const panel = renderChild(<Confirm {...asked} />)
    expect(renderChild(<ConfirmPage head="End" {...asked} />)).toContain(panel)
    expect(panel).not.toContain('<h1>')
  })

  test('a refusal says that nothing was changed, and why', () => {
    const refusal = new Refusal('conflict', { message: 'It has ended.' })
    const panel = renderChild(<Confirm {...asked} refusal={refusal} />)
    expect(panel).toContain('Nothing was changed.')
    expect(panel).toContain('It has ended.')
  })
})

describe('a form that was refused', () => {
  const refusal = new Refusal('invalid_request', { param: 'links.2', message: 'Not https.' })

  test('each field has the text that was sent, and its own error', () => {
    const field = fieldsOf('edit', { draft: { links: 'http://x' }, refusal })
    expect(field('links')).toEqual({
      form: 'edit',
      name: 'links',
      value: 'http://x',
      error: 'Not https.',
    })
    expect(field('bio')).toMatchObject({ value: '', error: undefined })
  })

  test('the note above it points to the marked field, or says what is wrong', () => {
    const note = (isMarked: boolean) =>
      renderChild(<Refused refusal={refusal} what="Nothing was sent." isMarked={isMarked} />)
    expect(note(errorOf(refusal, 'links') !== undefined)).toContain('See the marked field below.')
    expect(note(false)).toContain('Not https.')
  })
})
