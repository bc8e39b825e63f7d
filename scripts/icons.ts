/**
 * `bun scripts/icons.ts`: writes src/web/ui/icon-shapes.json, each icon as one path, from Lucide
 * (ISC licence: public/lucide.LICENSE.txt).
 * Run it after adding a line to `wanted`.
 */
import nodes from 'lucide-static/icon-nodes.json'

/** Our name of an icon, and Lucide's. */
const wanted = {
  home: 'house',
  console: 'terminal',
  runs: 'zap',
  receipts: 'receipt-text',
  keys: 'key-round',
  deposits: 'circle-dollar-sign',
  plan: 'rows-3',
  usage: 'chart-column',
  passport: 'id-card',
  sessions: 'monitor-smartphone',
  settings: 'sliders-horizontal',
  explorer: 'globe',
  verify: 'shield-check',
  models: 'boxes',
  docs: 'book-open',
  anchor: 'anchor',
  download: 'download',
  ok: 'check',
  wait: 'clock',
  warn: 'triangle-alert',
  bad: 'x',
  copy: 'copy',
  search: 'search',
  plus: 'plus',
  out: 'log-out',
  more: 'ellipsis',
  send: 'arrow-up',
  attach: 'paperclip',
} as const

type Attributes = Record<string, string>

const number = (attributes: Attributes, name: string): number => Number(attributes[name] ?? 0)

/** One element of an icon as the commands of a path. */
function pathOf(tag: string, a: Attributes): string {
  const at = (name: string) => number(a, name)
  switch (tag) {
    case 'path':
      return absoluteStart(a['d'] ?? '')
    case 'circle': {
      const r = at('r')
      return `M${at('cx') - r} ${at('cy')}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`
    }
    case 'line':
      return `M${at('x1')} ${at('y1')}L${at('x2')} ${at('y2')}`
    case 'polyline':
      return `M${(a['points'] ?? '').replace(/ /, 'L')}`
    case 'rect':
      return rectOf(at('x'), at('y'), at('width'), at('height'), at('rx'))
    default:
      throw new Error(`<${tag}> has no path`)
  }
}

/** Alone, a path may start relative to 0 0; behind another one it may not. */
function absoluteStart(d: string): string {
  const start = /^m\s*(-?[\d.]+)[\s,]*(-?[\d.]+)\s*/.exec(d)
  if (!start) return d
  const rest = d.slice(start[0].length)
  return `M${start[1]} ${start[2]}${/^[-\d.]/.test(rest) ? 'l' : ''}${rest}`
}

function rectOf(x: number, y: number, width: number, height: number, r: number): string {
  const arc = (dx: number, dy: number) => `a${r} ${r} 0 0 1 ${dx} ${dy}`
  const [w, h] = [width - 2 * r, height - 2 * r]
  return `M${x + r} ${y}h${w}${arc(r, r)}v${h}${arc(-r, r)}h${-w}${arc(-r, -r)}v${-h}${arc(r, -r)}`
}

const shapes = Object.entries(wanted).map(([name, lucide]) => {
  const icon = (nodes as unknown as Record<string, [string, Attributes][]>)[lucide]
  if (!icon) throw new Error(`Lucide has no ${lucide}`)
  return [name, icon.map(([tag, attributes]) => pathOf(tag, attributes)).join('')]
})
await Bun.write(
  'src/web/ui/icon-shapes.json',
  `${JSON.stringify(Object.fromEntries(shapes), null, 2)}\n`,
)
