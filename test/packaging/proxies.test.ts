import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { lists } from '../../src/config/entries.ts'
import { table } from '../../src/config/table.ts'

const docs = readFileSync('docs/install.md', 'utf8')
const files = ['packaging/nginx-tls.conf', 'packaging/Caddyfile']
const mib = 1024 * 1024
const bodyBytes = Number(table.limits.body_bytes.initial.replaceAll('_', ''))
const firstByteMs = 300_000

describe('the examples of reverse proxies', () => {
  test.each(files)('the documentation shows %s as it ships', (file) => {
    const shown = new RegExp(`<!-- file: ${file} -->\n\`\`\`\\w+\n([^]*?)\`\`\``).exec(docs)?.[1]
    const [, ...lines] = readFileSync(file, 'utf8').split('\n')
    expect(lines.join('\n')).toBe(shown ?? '')
  })

  test('take bodies as large as the service does, and hold no stream back', () => {
    const [nginx = '', caddy = ''] = files.map((file) => readFileSync(file, 'utf8'))
    const sizes = [
      /client_max_body_size (\d+)m;/.exec(nginx)?.[1],
      /max_size (\d+)MiB/.exec(caddy)?.[1],
    ]
    for (const size of sizes) expect(Number(size) * mib).toBeGreaterThanOrEqual(bodyBytes)
    expect(nginx).toContain('proxy_buffering off;')
    expect(caddy).toContain('flush_interval -1')
    const waits = [
      /proxy_read_timeout (\d+)m;/.exec(nginx)?.[1],
      /response_header_timeout (\d+)m/.exec(caddy)?.[1],
    ]
    for (const minutes of waits) expect(Number(minutes) * 60_000).toBeGreaterThan(firstByteMs)
    expect(lists.upstreams.timeout_first_byte_ms.meaning).toContain('300,000')
  })
})
