import { describe, expect, test } from 'bun:test'
import { Glob } from 'bun'
import { jsx } from '../../../src/web/ui/jsx-runtime.ts'
import { isSafeUrl } from '../../../src/web/ui/safe-url.ts'
import { promise } from '../../support/promise.ts'

const evil = `<img src=x onerror="alert('1')">&`
const escaped = '&lt;img src=x onerror=&quot;alert(&#x27;1&#x27;)&quot;&gt;&amp;'

describe('children', () => {
  promise`C2`
  test('text is escaped in elements, components, fragments and lists', () => {
    const Line = ({ text }: { text: string }) => <b>{text}</b>
    const shown = (
      <>
        {evil}
        <p>{evil}</p>
        <Line text={evil} />
        {[evil, [evil]]}
      </>
    )
    expect(String(shown)).toBe(`${escaped}<p>${escaped}</p><b>${escaped}</b>${escaped}${escaped}`)
  })

  test('what JSX made stays as it is', () => {
    const inner = <i>1 &lt; 2</i>
    expect(String(<p>{[inner, ' ', inner]}</p>)).toBe('<p><i>1 &lt; 2</i> <i>1 &lt; 2</i></p>')
  })

  test('nothing, false and true show nothing; numbers of both kinds show', () => {
    expect(String(<p>{[null, undefined, false, true, 0, 12n]}</p>)).toBe('<p>012</p>')
  })

  test('what is no child is a fault and is never printed', () => {
    const forged = { html: evil, toString: () => evil } as unknown as string
    expect(() => <p>{forged}</p>).toThrow(TypeError)
    expect(() => <p>{(() => evil) as unknown as string}</p>).toThrow(TypeError)
  })
})

describe('attributes', () => {
  test('values are escaped', () => {
    expect(String(<p title={evil} data-x={evil} class={['a', false, 'b']} />)).toBe(
      `<p title="${escaped}" data-x="${escaped}" class="a b"></p>`,
    )
  })

  test('true is a bare name, false is no name, but ARIA says both', () => {
    expect(String(<input disabled required={false} aria-invalid={false} aria-busy />)).toBe(
      '<input disabled aria-invalid="false" aria-busy="true">',
    )
  })

  const bad = ['onclick', 'ONLOAD', 'style', 'srcdoc', 'hx-on:click', 'a b', 'x"', 'x>', '@x', '']
  test.each(bad)('an attribute called %p is a fault', (name) => {
    expect(() => jsx('p', { [name]: 'x' })).toThrow(TypeError)
  })

  promise`C3`
  test('code in an hx attribute is a fault', () => {
    expect(() => jsx('p', { 'hx-vals': 'js:{a: 1}' })).toThrow(TypeError)
    expect(() => jsx('p', { 'hx-headers': ' javascript:{a: 1}' })).toThrow(TypeError)
  })
})

describe('elements', () => {
  const bad = ['style', 'iframe', 'object', 'embed', 'base', 'TEMPLATE', 'img src=x', '<p>', '']
  test.each(bad)('<%s> is a fault', (tag) => {
    expect(() => jsx(tag, {})).toThrow(TypeError)
  })

  test('a script has a file and no text', () => {
    expect(String(jsx('script', { src: '/assets/a.js' }))).toBe(
      '<script src="/assets/a.js"></script>',
    )
    expect(() => jsx('script', { children: 'alert(1)' })).toThrow(TypeError)
  })
})

describe('links', () => {
  const bad = [
    'javascript:alert(1)',
    'JaVaScript:alert(1)',
    ' javascript:alert(1)',
    'java\tscript:alert(1)',
    'java\nscript:alert(1)',
    '\u0000javascript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'vbscript:x',
    'file:///etc/passwd',
    'blob:x',
    '//evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    'https:///evil.example',
    'relative:thing',
    'plain',
  ]
  promise`C3 H: An address from data leads only where a link may lead.`
  test.each(bad)('%p goes nowhere', (href) => {
    expect(String(<a href={href}>x</a>)).toBe('<a href="#">x</a>')
    expect(String(<form action={href} />)).toBe('<form action="#"></form>')
    expect(String(<p hx-get={href} />)).toBe('<p hx-get="#"></p>')
  })

  test.each(['/a?b=c#d', '/', '#x', '?after=1'])('%p is of ours', (href) => {
    expect(String(<a href={href}>x</a>)).toBe(`<a href="${href}">x</a>`)
    expect(String(<p hx-post={href} />)).toBe(`<p hx-post="${href}"></p>`)
  })

  test.each(['https://a.example/x', 'mailto:a@b.example', 'ethereum:0x12@4663'])(
    'a link may go to %p, a form or a picture not',
    (url) => {
      expect(isSafeUrl('a', 'href', url)).toBe(true)
      expect(isSafeUrl('form', 'action', url)).toBe(false)
      expect(isSafeUrl('img', 'src', url)).toBe(false)
      expect(isSafeUrl('p', 'hx-get', url)).toBe(false)
    },
  )

  test('only a picture takes data, and only picture data', () => {
    expect(isSafeUrl('img', 'src', 'data:image/png;base64,aaaa')).toBe(true)
    expect(isSafeUrl('img', 'src', 'data:text/html,aaaa')).toBe(false)
    expect(isSafeUrl('a', 'href', 'data:image/png;base64,aaaa')).toBe(false)
  })
})

describe('source', () => {
  promise`C2 H: HTML is made in one place, which escapes everything.`
  test('HTML is made in one place, and no element takes attribute names from data', async () => {
    const makers: string[] = []
    const spreads: string[] = []
    for await (const file of new Glob('src/**/*.{ts,tsx}').scan('.')) {
      const text = await Bun.file(file).text()
      if (/new Markup\(/.test(text)) makers.push(file)
      if (file.endsWith('.tsx') && /<[a-z][\w-]*(\s[^<>]*)?\{\.\.\./.test(text)) {
        spreads.push(file)
      }
    }
    expect(makers).toEqual(['src/web/ui/jsx-runtime.ts'])
    expect(spreads).toEqual([])
  })
})
