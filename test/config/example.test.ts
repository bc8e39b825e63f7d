import { expect, test } from 'bun:test'
import { exampleFile } from '../../src/config/example.ts'
import { explainSettings } from '../../src/config/help.ts'
import { rows } from '../../src/config/table.ts'
import { providerTable } from '../../src/models/providers/provider-table.ts'
import { configOf, problemsOf } from './load.ts'

const env = { LOCAL_API_KEY: 'sk-1' }

test('the file that init writes changes nothing', () => {
  expect(configOf({ fileText: exampleFile() })).toEqual(configOf())
})

test('every setting is in it, and is sound once its # is taken away', () => {
  const fileText = exampleFile().replaceAll(/^# /gm, '')
  const map = '[s3]\nslots = "256-383"\n[s4]\nslots = "0-255, 384-1023"\n'
  const readFile = () => ({ text: map, mode: 0o600 })
  expect(problemsOf({ fileText, env, readFile })).toEqual([])
  const { base_url, models, plans, upstreams } = configOf({ fileText, env, readFile })
  expect(base_url).toBe('https://gateway.example')
  expect([upstreams, models, plans].map(([entry]) => entry?.id)).toEqual([
    'local',
    'acme/small',
    'builder',
  ])
  for (const { name } of rows) expect(fileText).toContain(`\n${name} = `)
})

test('docs/providers.md has the presets of this build: bun scripts/config-docs.ts', async () => {
  const [, table = ''] = (await Bun.file('docs/providers.md').text()).split('<!-- providers -->')
  expect(table.trim()).toBe(providerTable())
})

test('docs/configuration.md has the table of this build: bun scripts/config-docs.ts', async () => {
  const [, told] = (await Bun.file('docs/configuration.md').text()).split('<!-- settings -->')
  expect(told?.trim()).toBe(explainSettings())
})
