import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { makeInstruments } from '../../src/app/metrics/instruments.ts'
import { refusals } from '../../src/kernel/refusal.ts'
import { promise } from '../support/promise.ts'

setDefaultTimeout(60_000)

const path = resolve('packaging/prometheus-alerts.yml')
type Rule = { alert: string; expr: string; labels: { severity: string }; annotations: object }
const { groups } = Bun.YAML.parse(readFileSync(path, 'utf8')) as { groups: { rules: Rule[] }[] }
const rules = groups.flatMap((group) => group.rules)

/** Where metrics are named: one by one here, others beside them. */
const sources = ['instruments.ts', 'collect.ts'].map((name) =>
  readFileSync(resolve('src/app/metrics', name), 'utf8'),
)

describe('the alarm rules for Prometheus', () => {
  test('name metrics that /metrics has, and no others', () => {
    const named = rules.flatMap(({ expr }) => expr.match(/counterfoil_\w+/g) ?? [])
    const missing = named.filter((name) => {
      const family = name.replace(/_(bucket|sum|count)$/, '')
      return !sources.some((text) => text.includes(`'${family}'`))
    })
    expect(missing).toEqual([])
    expect(named.length).toBeGreaterThan(15)
  })

  test('ask for types of refusals that there are', () => {
    const types = rules.flatMap(({ expr }) =>
      [...expr.matchAll(/\btype=~?"([^"]+)"/g)].flatMap(([, names = '']) => names.split('|')),
    )
    expect(types.filter((type) => !Object.hasOwn(refusals, type))).toEqual([])
    expect(types).not.toEqual([])
  })

  test('say who is woken and what is wrong, and stand in the documentation', () => {
    const docs = readFileSync(resolve('docs/operate.md'), 'utf8')
    for (const { alert, expr, labels, annotations } of rules) {
      expect([alert, labels.severity]).toEqual([alert, expect.stringMatching(/^(page|ticket)$/)])
      expect(annotations).toMatchObject({ summary: expect.stringMatching(/\w{3}/) })
      for (const name of expr.match(/counterfoil_\w+/g) ?? []) {
        const family = name.replace(/_(bucket|sum|count)$/, '')
        const tail = family.replace(/^counterfoil_(upstream|database|chain)/, '…')
        expect([name, docs.includes(family) || docs.includes(tail)]).toEqual([name, true])
      }
    }
  })

  test('a labelled counter of theirs is one of the process', () => {
    const families = Object.values(makeInstruments()).map((one) => one.family().name)
    for (const name of ['counterfoil_refusals_total', 'counterfoil_reloads_total']) {
      expect(families).toContain(name)
    }
  })

  promise`T13`
  test.skipIf(!Bun.which('promtool'))('are taken by Prometheus, and fire when they should', () => {
    const folder = mkdtempSync(join(tmpdir(), 'counterfoil-alerts-'))
    try {
      const cases = readFileSync(join(import.meta.dir, 'alerts.yml'), 'utf8')
      const file = join(folder, 'cases.yml')
      writeFileSync(file, cases.replace('RULES', JSON.stringify(path)))
      for (const args of [
        ['check', 'rules', path],
        ['test', 'rules', file],
      ]) {
        const done = Bun.spawnSync(['promtool', ...args])
        const said = `${done.stdout}${done.stderr}`
        expect([said, done.exitCode]).toEqual([expect.stringContaining('SUCCESS'), 0])
      }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
