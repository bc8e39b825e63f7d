import { describe, expect, test } from 'bun:test'
import { Refusal } from '../../../src/kernel/refusal.ts'
import * as q from '../../../src/web/http/query-fields.ts'
import { ChoiceTabs, FieldSearch, FilterBar } from '../../../src/web/ui/filters.tsx'
import { Fields, FormPanel } from '../../../src/web/ui/form-panel.tsx'
import { renderChild } from '../../../src/web/ui/jsx-runtime.ts'

const notes = q.declareQuery({
  ...q.pageFields('note_1'),
  kind: q.choice('Only those.', ['all', 'bill'], {
    label: 'Kind',
    first: 'All',
    words: { bill: 'Bills' },
  }),
  paid: q.yes('Only those that are paid.', { label: 'Paid' }),
  text: q.text('What it says.', 'May', { label: 'Text', placeholder: 'May' }),
  size: q.whole('How long it is.', 3, { minimum: 1, maximum: 9 }),
})

const read = (query: string) => notes.read(new URLSearchParams(query))
const wrong = (query: string): unknown => {
  try {
    read(query)
  } catch (error) {
    if (error instanceof Refusal) return error.detail.param
  }
}

describe('a declared query', () => {
  test('its reader gives each field its own type, and leaves out what is absent', () => {
    expect(read('kind=bill&paid=1&size=3&limit=5')).toMatchObject({
      ...{ kind: 'bill', paid: true, size: 3, limit: 5, text: undefined, after: undefined },
    })
    expect(notes.readForm(new URLSearchParams('kind=&text=')).kind).toBeUndefined()
  })

  test.each([
    ['kind=note', 'kind'],
    ['paid=yes', 'paid'],
    ['size=10', 'size'],
    ['limit=101', 'limit'],
    ['after=', 'after'],
    ['text=a&text=b', 'text'],
  ])('its reader refuses %s by the name of the parameter', (query, param) => {
    expect(wrong(query)).toBe(param)
  })

  test('its reference has the choices and the bounds that its reader checks', () => {
    expect(Object.keys(notes.parameters)).toEqual(Object.keys(notes.fields))
    expect(notes.parameters.size).toMatchObject({ minimum: 1, maximum: 9 })
  })

  test('its form draws the fields that have a label, and its links keep only these', () => {
    const query = new URLSearchParams('paid=1&size=3&after=note_1')
    const form = renderChild(
      <FilterBar action="/notes" target="#notes" query={query} of={notes} choices={{}} />,
    )
    expect(form).toContain('<option value="1" selected')
    expect(form).not.toContain('name="size"')
    expect(q.filterQuery(query, notes).toString()).toBe('paid=1')
  })

  test('one field alone is drawn as tabs or as a search that keep the others', () => {
    const list = { path: '/notes', of: notes, values: { kind: 'bill', text: 'May' } }
    expect(renderChild(<ChoiceTabs {...list} name="kind" />)).toContain(
      '<a href="/notes?text=May">All</a><a href="/notes?kind=bill&amp;text=May" aria-current="page"',
    )
    expect(renderChild(<FieldSearch {...list} name="text" />)).toContain(
      '<input type="hidden" name="kind" value="bill"',
    )
  })
})

describe('a form drawn from its fields', () => {
  const refusal = new Refusal('invalid_request', { message: 'Too long.', param: 'name' })
  const sent = { draft: { name: 'x', 'box.b': 'true' }, refusal }
  const of = {
    name: { half: true, label: 'Name', hint: 'Short.', required: true },
    sort: {
      half: true,
      kind: 'select',
      label: 'Sort',
      initial: 'b',
      options: [{ value: 'b', label: 'B' }],
    },
    boxes: {
      kind: 'boxes',
      label: 'Which',
      marker: 'from',
      boxes: { 'box.a': { label: 'A' }, 'box.b': { label: 'B' } },
    },
  } as const

  test('keeps what was typed, with the error and the hint at its field', () => {
    const html = renderChild(<Fields of={of} form="new" sent={sent} />)
    expect(html).toContain('value="x"')
    expect(html).toContain('aria-describedby="new-name-error new-name-hint"')
    expect(html).toContain('<option value="b" selected')
    expect(html.match(/ checked/g)).toHaveLength(1)
    expect(html.match(/class="grid2"/g)).toHaveLength(1)
  })

  test('says above that nothing was done, and where to look', () => {
    const panel = { id: 'new', title: 'New', action: '/new', of, button: 'Make', what: 'Not made.' }
    expect(renderChild(<FormPanel {...panel} sent={sent} />)).toContain('See the marked field')
    const other = new Refusal('conflict', { message: 'Too many.' })
    expect(renderChild(<FormPanel {...panel} sent={{ draft: {}, refusal: other }} />)).toContain(
      'Too many.',
    )
  })
})
