import { describe, expect, test } from 'bun:test'
import { MarkdownView } from '../../../src/models/pages/markdown-view.tsx'
import { payloads } from '../../web/ui/payloads.ts'

const html = (text: string): string =>
  String(MarkdownView({ text })).replace(/^<div class="it done">|<\/div>$/g, '')

describe('Markdown of an answer', () => {
  test.each([
    ['one\ntwo\n\nthree', '<p>one\ntwo</p><p>three</p>'],
    [
      'a **b** *c* `d` __e__ _f_',
      '<p>a <strong>b</strong> <em>c</em> <code>d</code> <strong>e</strong> <em>f</em></p>',
    ],
    [
      '[see www.x.org and https://a.com](https://b.com)',
      '<p><a href="https://b.com/" target="_blank" rel="noopener noreferrer nofollow">see www.x.org and https://a.com</a></p>',
    ],
    ['2 * 3 * 4, snake_case_name, **open', '<p>2 * 3 * 4, snake_case_name, **open</p>'],
    ['## A `b` ##', '<p><strong>A <code>b</code></strong></p>'],
    ['# C#', '<p><strong>C#</strong></p>'],
    ['### a # #  ', '<p><strong>a #</strong></p>'],
    ['3. a\n4. b\n   c', '<ol start="3"><li>a</li><li>b\nc</li></ol>'],
    ['- a\n  - b', '<ul><li>a<ul><li>b</li></ul></li></ul>'],
    [
      '1. a\n   - b\n\n     c\n2. d\n\ne',
      '<ol start="1"><li>a<ul><li>b<p>c</p></li></ul></li><li>d</li></ol><p>e</p>',
    ],
    ['1. a\n\n2. b', '<ol start="1"><li>a</li><li>b</li></ol>'],
    ['- a\n\n1. b', '<ul><li>a</li></ul><ol start="1"><li>b</li></ol>'],
    ['> a\n> b', '<blockquote><p>a\nb</p></blockquote>'],
    ['> - a\n> - b', '<blockquote><ul><li>a</li><li>b</li></ul></blockquote>'],
    ['Title\n=====\ntext', '<p><strong>Title</strong></p><p>text</p>'],
    ['~~a **b**~~ ~c~ a~~ ~', '<p><del>a <strong>b</strong></del> <del>c</del> a~~ ~</p>'],
    ['***a*** *b **c** d*', '<p><strong><em>a</em></strong> <em>b <strong>c</strong> d</em></p>'],
    ['a  \nb\\\nc', '<p>a<br>b<br>c</p>'],
    ['---', '<hr>'],
    ['\\*a\\*', '<p>*a*</p>'],
  ])('%j', (text, shown) => {
    expect(html(text)).toBe(shown)
  })

  test('a table has its head, the side of each column, and rows as wide as the head', () => {
    const text = 'See:\n\n| a | *b* |\n|:--|--:|\n| 1 \\| 2 | `c` |\n| 3\n\nend'
    expect(html(text)).toBe(
      '<p>See:</p><section class="scroll" tabindex="0" aria-label="Table: a, b"><table><thead>' +
        '<tr><th class="left" scope="col">a</th><th class="right" scope="col"><em>b</em></th></tr>' +
        '</thead><tbody><tr><td class="left">1 | 2</td><td class="right"><code>c</code></td></tr>' +
        '<tr><td class="left">3</td><td class="right"></td></tr></tbody></table></section><p>end</p>',
    )
  })

  test.each([
    'a | b\n--|--|--',
    'a | b\nc | d',
    '|'.repeat(99),
    `${'a|'.repeat(99)}\n${'-|'.repeat(99)}`,
  ])('%j is not a table', (text) => {
    expect(html(text)).not.toContain('<table')
  })

  test('tasks have boxes that say whether they are done, and code names its language', () => {
    const shown = html('- [x] a\n- [ ] b\n\n```rust ignore\nfn\n```')
    expect(shown).toContain(
      '<li class="task"><input type="checkbox" aria-label="Done" checked disabled>a',
    )
    expect(shown).toContain('<input type="checkbox" aria-label="To do" disabled>b')
    expect(shown).toContain('<small>rust</small><pre tabindex="0">fn</pre>')
  })

  test('an address in brackets, after www. and with brackets in it is a link', () => {
    expect(html('<https://a.example/b>')).toContain('<a href="https://a.example/b"')
    expect(html('www.a.example, wwwhat')).toContain('<a href="https://www.a.example/"')
    expect(html('[w](https://a.example/b_(c) "Title") ![i](https://a.example/i.png)')).toMatch(
      /href="https:\/\/a\.example\/b_\(c\)".*>w<.*href="https:\/\/a\.example\/i\.png".*>i</,
    )
  })

  test('code keeps its text, also before its end has come', () => {
    for (const text of ['```ts\nconst a = "<b>"\n\n*x*\n```', '```ts\nconst a = "<b>"\n\n*x*']) {
      expect(html(text)).toContain('<pre tabindex="0">const a = &quot;&lt;b&gt;&quot;\n\n*x*</pre>')
    }
  })

  test.each([
    '[a](javascript:alert(1))',
    '[a](JaVaScRiPt:alert(1))',
    '[a](data:text/html,x)',
    '[a](//evil.example)',
    '[a](/dashboard)',
    '[a](vbscript:x)',
    'mailto:a@b.c',
  ])('%p does not become a link', (text) => {
    expect(html(text)).not.toContain('href')
  })

  test('a link is absolute, sends no referrer, and stays inside its attribute', () => {
    expect(html('[a](https://x.example/"onclick=alert(1)"?q=<b>)')).not.toContain('onclick="')
    expect(html('See https://x.example/a.')).toBe(
      '<p>See <a href="https://x.example/a" target="_blank" rel="noopener noreferrer nofollow">https://x.example/a</a>.</p>',
    )
  })

  test.each(payloads)('%j makes no element', (payload) => {
    for (const text of [
      payload,
      `**${payload}**`,
      `- ${payload}`,
      `[${payload}](https://x.example)`,
    ]) {
      const bare = html(text).replace(
        /<\/?(p|strong|em|del|br|code|ul|ol|li|a|pre|div|hr|blockquote|button|small)( (class|href|target|rel|start|tabindex|type|data-copy)="[^"<>]*")*>/g,
        '',
      )
      expect(bare).not.toMatch(/[<>]/)
    }
  })

  test.each([
    '*',
    '_',
    '[',
    '`',
    '[a](',
    '**a',
    '- ',
    '> ',
    'h',
    'https://',
    '|a',
    '~~a',
    '- [ ] ',
    '<h',
    ' ',
    '~',
    '```a`',
    '\n',
    '\n- a\n  ',
    '\n|-|',
    '\n> - ',
  ])(
    'a hundred thousand of %j are read',
    (mark) => {
      expect(html(`a ${mark.repeat(100_000)} z`).replace(/<[^>]*>/g, '')).toEndWith('z')
    },
    10_000,
  )
})
