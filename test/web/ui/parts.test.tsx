import { describe, expect, test } from 'bun:test'
import { rosetteHues, rosetteMarkPaths } from '../../../src/verify/rosette.ts'
import { Address } from '../../../src/web/ui/address.tsx'
import { Amount, amountText } from '../../../src/web/ui/amount.tsx'
import { BarChart } from '../../../src/web/ui/chart.tsx'
import { shortHash, shortId } from '../../../src/web/ui/hash.tsx'
import { Meter } from '../../../src/web/ui/meter.tsx'
import { Qr } from '../../../src/web/ui/qr.tsx'
import { Rosette, RosetteMark } from '../../../src/web/ui/rosette.tsx'
import { ExactTime, relativeTime, When } from '../../../src/web/ui/when.tsx'

describe('amounts', () => {
  test.each([
    [0n, '$0.00'],
    [1n, '$0.00<small>0000001</small>'],
    [38n, '$0.00<small>0000038</small>'],
    [10_000_000n, '$0.01'],
    [48_217_904_038n, '$48.21<small>7904038</small>'],
    [1_234_567_890_000_000n, '$1,234,567.89'],
    [9_000_000_000_000_000n, '$9,000,000.00'],
    [-1_500_000_000n, '−$1.50'],
    [-1n, '−$0.00<small>0000001</small>'],
  ])('%p nano-USD', (nusd, shown) => {
    expect(String(<Amount nusd={nusd} />)).toContain(`>${shown}</data>`)
  })

  test('the value a program reads is exact, and a column has as many places as it asks for', () => {
    expect(String(<Amount nusd={1_200_000n} places={9} />)).toBe(
      '<data class="amount" value="0.0012">$0.00<small>1200000</small></data>',
    )
  })

  test('in text', () => {
    expect(amountText(1_234_000_000_038n)).toBe('$1,234.000000038')
    expect(amountText(-5_000_000_000n)).toBe('−$5.00')
  })
})

describe('times', () => {
  const now = Date.UTC(2026, 10, 21, 1)
  test.each([
    [now, 'just now'],
    [now - 4999, 'just now'],
    [now - 42_000, '42 s ago'],
    [now - 119_000, '1 min ago'],
    [now - 3_600_000, '1 h ago'],
    [now - 86_400_000, '1 day ago'],
    [now - 29 * 86_400_000, '29 days ago'],
    [now - 30 * 86_400_000, 'Oct 22, 2026'],
    [now + 90_000, 'in 1 min'],
    [now + 3 * 86_400_000, 'in 3 days'],
    [now + 90 * 86_400_000, 'Feb 19, 2027'],
  ])('%p is %p', (at, words) => {
    expect(relativeTime(at, now)).toBe(words)
  })

  test('a machine reads RFC 3339, a person who points at it the second', () => {
    expect(String(<When at={now - 90_000} now={now} />)).toBe(
      '<time datetime="2026-11-21T00:58:30.000Z" data-now="1795222800000" ' +
        'title="Nov 21, 2026, 00:58:30 UTC">1 min ago</time>',
    )
    expect(String(<ExactTime at={now} />)).toContain('>Nov 21, 2026, 01:00:00 UTC<')
  })
})

describe('hashes', () => {
  const hash = `0x${'9c4f27a1'.repeat(8)}`

  test('an address keeps its checksum, whole in its title', () => {
    const shown = String(<Address value="0x70997970c51812dc3a010c7d01b50e0d17dc79c8" />)
    expect(shown).toContain('title="0x70997970C51812dc3A010C7d01b50e0d17dc79C8"')
    expect(shown).toContain('>0x7099…79C8<')
  })

  test('an id keeps its prefix and the end that tells it from its neighbours', () => {
    expect(shortHash(hash)).toBe('0x9c4f…27a1')
    expect(shortId('rcpt_01k7qz4n8e3v5w0m2b9c7d1f4g')).toBe('rcpt_01k7…7d1f4g')
    expect(shortId('rcpt_short')).toBe('rcpt_short')
  })

  test('one hash, one figure; another hash, another one', () => {
    const figures = Array.from({ length: 500 }, (_, i) =>
      String(<Rosette hash={new Bun.CryptoHasher('sha256').update(`${i}`).digest('hex')} />),
    )
    expect(new Set(figures).size).toBe(500)
    expect(String(<Rosette hash={hash} />)).toBe(String(<Rosette hash={hash.slice(2)} />))
    expect(Math.max(...figures.map((figure) => figure.length))).toBeLessThan(8000)
  })

  test('a figure never changes: it is an identity', () => {
    const digest = new Bun.CryptoHasher('sha256').update(String(<Rosette hash={hash} plain />))
    expect(digest.digest('hex')).toMatchInlineSnapshot(
      `"074a9278b825df13f4f870a50b31bbd76c64c68fa7b863a08d4b8263673272f9"`,
    )
  })

  test('the smooth line of a figure goes through the points of its ring, and closes', () => {
    // The mark of this hash: its first bytes give the petals, turns and depth.
    const [teeth, turns, depth] = [7 + (0x9c % 12), 2 + (0x4f % 4), 0.35 + 0x27 / 510]
    const [path = ''] = rosetteMarkPaths(hash)
    const all = (path.match(/-?\d+/g) ?? []).map(Number)
    const [start = [], first = [], ...rest] = Array.from({ length: all.length / 2 }, (_, i) =>
      all.slice(2 * i, 2 * i + 2),
    )
    let [at, control] = [start, [0, 0]]
    const through = rest.map((step, i) => {
      const to = [0, 1].map((k) => (at[k] ?? 0) + (step[k] ?? 0))
      const from = [0, 1].map((k) => (i === 0 ? (first[k] ?? 0) : (at[k] ?? 0) - (control[k] ?? 0)))
      control = [0, 1].map((k) => (at[k] ?? 0) + (from[k] ?? 0))
      const middle = [0, 1].map((k) => ((at[k] ?? 0) + 2 * (control[k] ?? 0) + (to[k] ?? 0)) / 4)
      at = to
      return middle
    })
    expect(at).toEqual(start)
    for (const [i, [x = 0, y = 0]] of through.entries()) {
      const angle = ((i + 1) / through.length) * 2 * Math.PI * turns
      const reach = 380 * (1 - depth / 2 + (depth / 2) * Math.cos((teeth / turns) * angle))
      const [off, along] = [x - 400 - reach * Math.cos(angle), y - 400 - reach * Math.sin(angle)]
      expect(Math.hypot(off, along)).toBeLessThan(3)
    }
  })

  test('a figure has two hues of its hash, the same wherever it is drawn', () => {
    const dyed = String(<Rosette hash={hash} />)
    const [a, b] = rosetteHues(hash)
    expect(a).not.toBe(b)
    expect(dyed).toContain(`class="ros dyed a${a} b${b}"`)
    expect(String(<RosetteMark hash={hash} />)).toContain(`class="ros tiny dyed a${a} b${b}"`)
    expect(rosetteHues(`0x${'9c5f28a1'.repeat(8)}`)).not.toEqual(rosetteHues(hash))
  })

  test.each(['', 'zz', '0x', '0', '<script>'])('%p has a figure too', (odd) => {
    expect(String(<RosetteMark hash={odd} />)).toMatch(
      /^<svg [^<]*><path d="M[\d\sqt-]+z"><\/path><circle [^>]+><\/circle><\/svg>$/,
    )
  })
})

describe('meters and charts', () => {
  const usd = 1_000_000_000n
  test.each([
    [0n, 10n * usd, 'class="meter"', 'value="0"'],
    [8n * usd, 10n * usd, 'class="meter warn"', 'value="800"'],
    [10n * usd, 10n * usd, 'class="meter bad"', 'value="1000"'],
    [11n * usd, 10n * usd, 'class="meter bad"', 'value="1000"'],
    [0n, 0n, 'class="meter bad"', 'value="1000"'],
  ])('%p of %p', (used, limit, look, value) => {
    const shown = String(<Meter used={used} limit={limit} />)
    expect(shown).toContain(look)
    expect(shown).toContain(value)
  })

  test('a chart says its finding, and the table has every point', () => {
    const points = [1, 2, 3].map((value) => ({ label: `day ${value}`, value, words: `$${value}` }))
    const shown = String(
      <BarChart id="c" finding="It rises." points={points} head={['Day', 'Spend']} tick={String} />,
    )
    expect(shown).toContain('<title id="c-finding">It rises.</title>')
    expect(shown.match(/<rect class="b"/g)).toHaveLength(3)
    for (const { label, words } of points) {
      expect(shown).toContain(`<td>${label}</td><td class="num">${words}</td>`)
    }
  })

  test.each([[[]], [[0]], [[0, 0]]])('a chart of %p has no figure that is no number', (values) => {
    const points = values.map((value) => ({ label: 'x', value, words: '0' }))
    const shown = String(
      <BarChart id="c" finding="Nothing." points={points} head={['a', 'b']} tick={String} />,
    )
    expect(shown).not.toMatch(/NaN|Infinity|undefined/)
  })

  test('a QR code holds its text', () => {
    const text = 'ethereum:0x5fc5360D0400a0Fd4f2af552ADD042D716F1d168@4663/transfer'
    const shown = String(<Qr text={text} label="Link to pay" />)
    expect(shown).toContain('role="img" aria-label="Link to pay"')
    expect(shown.length).toBeGreaterThan(2000)
  })
})
