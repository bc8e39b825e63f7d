import { describe, expect, test } from 'bun:test'
import { MarkdownView } from '../../../src/front/console/portal/markdown-view.tsx'
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
    ['2 * 3 * 4, snake_case_name, **open', '<p>2 * 3 * 4, snake_case_name, **open</p>'],
    ['## A `b` ##', '<p><strong>A <code>b</code></strong></p>'],
    ['# C#', '<p><strong>C#</strong></p>'],
    ['### a # #  ', '<p><strong>a #</strong></p>'],
    ['3. a\n4. b\n   c', '<ol start="3"><li>a</li><li>b\nc</li></ol>'],
    ['- a\n  - b', '<ul><li>a</li><li class="deep1">b</li></ul>'],
    ['> a\n> b', '<blockquote>a\nb</blockquote>'],
    ['---', '<hr>'],
    ['\\*a\\*', '<p>*a*</p>'],
  ])('%j', (text, shown) => {
    expect(html(text)).toBe(shown)
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
        /<\/?(p|strong|em|code|ul|ol|li|a|pre|div|hr|blockquote|button)( (class|href|target|rel|start|tabindex|type|data-copy)="[^"<>]*")*>/g,
        '',
      )
      expect(bare).not.toMatch(/[<>]/)
    }
  })

  test.each(['*', '_', '[', '`', '[a](', '**a', '- ', '> ', 'h', 'https://'])(
    'a hundred thousand of %p are read',
    (mark) => {
      expect(html(`a ${mark.repeat(100_000)} z`)).toContain(' z')
    },
    10_000,
  )
})
