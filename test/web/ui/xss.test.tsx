import { describe, expect, test } from 'bun:test'
import { ownerOf } from '../../../src/kernel/acting.ts'
import { Refusal } from '../../../src/kernel/refusal.ts'
import { Button, ButtonLink, CopyButton } from '../../../src/web/ui/button.tsx'
import { BarChart, LineChart } from '../../../src/web/ui/chart.tsx'
import { Confirm } from '../../../src/web/ui/confirm.tsx'
import { Code, CopyBox } from '../../../src/web/ui/copy-box.tsx'
import { Empty, Loading } from '../../../src/web/ui/empty.tsx'
import { Search, Tabs } from '../../../src/web/ui/filters.tsx'
import {
  ActionForm,
  AreaField,
  CheckField,
  ChoiceField,
  SelectField,
  TextField,
} from '../../../src/web/ui/form.tsx'
import { Hash, IdLink } from '../../../src/web/ui/hash.tsx'
import type { Markup } from '../../../src/web/ui/jsx-runtime.ts'
import { Ladder } from '../../../src/web/ui/ladder.tsx'
import { dashboardPage, publicPage } from '../../../src/web/ui/layout.tsx'
import { ErrorNote, Notice } from '../../../src/web/ui/notice.tsx'
import { List } from '../../../src/web/ui/paged-list.tsx'
import { Facts, Figures, PageHead, Panel } from '../../../src/web/ui/panel.tsx'
import { Qr } from '../../../src/web/ui/qr.tsx'
import { refusalPages } from '../../../src/web/ui/refusal.tsx'
import { Rosette } from '../../../src/web/ui/rosette.tsx'
import { Slip, Stamp } from '../../../src/web/ui/slip.tsx'
import { Badge, Live } from '../../../src/web/ui/status.tsx'
import { Checks, Steps } from '../../../src/web/ui/steps.tsx'
import { Pager, Table } from '../../../src/web/ui/table.tsx'
import { Tape } from '../../../src/web/ui/tape.tsx'
import { account, frame } from '../../browser/gallery/samples.tsx'
import { promise } from '../../support/promise.ts'
import { payloads } from './payloads.ts'

const points = (x: string) => [{ label: x, value: 1, words: x }]

/** Every part with a text of someone's in every place that takes one. */
const parts: Record<string, (x: string) => Markup> = {
  badge: (x) => <Badge tone="ok">{x}</Badge>,
  bars: (x) => <BarChart id="c" finding={x} points={points(x)} head={[x, x]} tick={() => x} />,
  button: (x) => (
    <Button name={x} value={x}>
      {x}
    </Button>
  ),
  checks: (x) => <Checks id={x} of={[{ result: 'bad', label: x, detail: x }]} />,
  code: (x) => <Code id={x} label={x} text={x} />,
  confirm: (x) => (
    <Confirm
      id={x}
      title={x}
      consequence={x}
      affected={[x]}
      action={x}
      target="#keys"
      button={x}
      keep={x}
      keepHref={x}
    />
  ),
  copyBox: (x) => <CopyBox id={x} label={x} value={x} />,
  copyButton: (x) => <CopyButton of={x} label={x} />,
  empty: (x) => (
    <Empty hash={x} title={x}>
      {x}
    </Empty>
  ),
  errorNote: (x) => <ErrorNote what={x} charged={x} retry={x} requestId={x} />,
  facts: (x) => <Facts of={[[x, x]]} />,
  figures: (x) => <Figures label={x} of={[[x, x]]} />,
  forms: (x) => (
    <ActionForm action={x} target="#keys" confirm={`Revoke ${x}?`}>
      <TextField form={x} name={x} label={x} hint={x} error={x} value={x} placeholder={x} />
      <AreaField form={x} name={x} label={x} hint={x} error={x} value={x} placeholder={x} />
      <SelectField name={x} label={x} value={x} options={[{ value: x, label: x }]} error={x} />
      <ChoiceField name={x} label={x} value={x} options={[{ value: x, label: x }]} hint={x} />
      <CheckField name={x} label={x} value={x} error={x} />
    </ActionForm>
  ),
  hash: (x) => <Hash value={x} />,
  idLink: (x) => <IdLink value={x} href={x} />,
  ladder: (x) => <Ladder rungs={[{ hash: x, sibling: x, side: 'left' }]} root={x} rootIs={x} />,
  line: (x) => <LineChart id="c" finding={x} points={points(x)} head={[x, x]} tick={() => x} />,
  link: (x) => <ButtonLink href={x}>{x}</ButtonLink>,
  list: (x) => (
    <List
      id={x}
      title={x}
      noun={x}
      items={[x]}
      columns={[{ head: x, cell: (row) => row }]}
      href={x}
      next={x}
      isFirst={false}
      hash="ab"
      aside={x}
      words={x}
      csv={x}
    />
  ),
  listEmpty: (x) => (
    <List
      id={x}
      title={x}
      noun={x}
      items={[]}
      columns={[]}
      href={x}
      hash="ab"
      empty={{ title: x, text: x, action: x }}
    />
  ),
  live: (x) => <Live>{x}</Live>,
  loading: (x) => <Loading what={x} />,
  notice: (x) => (
    <Notice tone="bad" title={x} action={x}>
      {x}
    </Notice>
  ),
  pageHead: (x) => <PageHead title={x}>{x}</PageHead>,
  pager: (x) => (
    <Pager older={x} newest={x}>
      {x}
    </Pager>
  ),
  panel: (x) => (
    <Panel id={x} title={x} aside={x} foot={x}>
      {x}
    </Panel>
  ),
  qr: (x) => <Qr text="a" label={x} />,
  rosette: (x) => <Rosette hash="ab" label={x} />,
  search: (x) => <Search action={x} name={x} label={x} value={x} placeholder={x} button={x} />,
  slip: (x) => (
    <Slip
      id={x}
      at={0}
      digest="ab"
      lines={[[x, x]]}
      total={1n}
      note={x}
      stamp={<Stamp against={x}>{x}</Stamp>}
    />
  ),
  steps: (x) => <Steps of={[{ label: x, done: false, action: x }]} />,
  table: (x) => (
    <Table caption={x} bodyId={x} rows={[x]} columns={[{ head: x, cell: (row) => row }]} />
  ),
  tabs: (x) => <Tabs label={x} here="/" tabs={[{ href: x, label: x }]} />,
  tape: (x) => <Tape label={x} bars={[{ value: 1, href: x, words: x }]} />,
}

promise`C1 C: Input of people, models and upstreams is shown as text on every page.`
describe('a text of someone stays a text, whatever part shows it', () => {
  test.each(Object.entries(parts))('%s', (_, part) => {
    const plain = shapeOf(String(part('plain')))
    for (const payload of payloads) {
      const html = String(part(payload))
      expect(shapeOf(html)).toEqual(plain)
      expect(html).not.toMatch(/(href|src|action|hx-post)="\s*(javascript|data|vbscript):/i)
    }
  })

  test('a whole page, with the text as its title and its address', () => {
    const page = (x: string) => {
      const parts = { frame, title: x, here: x, main: <p>{x}</p>, description: x }
      const reader = { theme: 'dark', path: x } as const
      return (
        dashboardPage({ ...parts, acting: ownerOf(account) }).html(reader) +
        publicPage(parts).html(reader)
      )
    }
    const plain = shapeOf(page('plain'))
    for (const payload of payloads) expect(shapeOf(page(payload))).toEqual(plain)
  })

  test('a refusal that quotes it', () => {
    const show = (x: string, wants: 'page' | 'fragment') =>
      refusalPages(frame)(new Refusal('not_found', { message: x }), {
        request: new Request(`http://localhost/${encodeURI(x.replaceAll('%', ''))}`),
        requestId: x,
        wants,
      }).html
    for (const wants of ['page', 'fragment'] as const) {
      const plain = shapeOf(show('plain', wants))
      for (const payload of payloads) expect(shapeOf(show(payload, wants))).toEqual(plain)
    }
  })
})

/** The elements of a page in order, each with the names of its attributes. */
function shapeOf(html: string): string[] {
  const shape: string[] = []
  const note = {
    element(element: { tagName: string; attributes: Iterable<string[]> }) {
      shape.push([element.tagName, ...[...element.attributes].map(([name]) => name)].join(' '))
    },
    comments() {
      shape.push('a comment')
    },
  }
  new HTMLRewriter().on('*', note).transform(html)
  return shape
}
