import { describe, expect, test } from 'bun:test'
import { classUnits } from '../../../src/billing/usage/store/class-lines.ts'
import { lookAtRates } from '../../../src/cli/doctor-rates.ts'
import { loadConfig } from '../../../src/config/config.ts'
import { addReceipts, classLines, linesOf } from '../../billing/usage/receipts.ts'
import { engines, testAccount, usd, world } from '../../support/world.ts'

const configOf = (more: string) => {
  const fileText = `
[[upstreams]]
id = "local"
base_url = "http://127.0.0.1:9/v1"
[[models]]
id = "acme/small"
route = ["local:small"]
kind = "chat"
context_tokens = 1000
max_output_tokens = 100
input_pusd = 150_000
output_pusd = 600_000
${more}`
  const inputs = { flags: {}, env: {}, filePath: 'test.toml', readFile: () => undefined }
  const loaded = loadConfig({ ...inputs, fileText })
  if ('problems' in loaded) throw new Error(loaded.problems.join('\n'))
  return loaded.config
}

describe.each(engines)('what doctor says of rates on %s', (engine) => {
  test('names the classes that models read without a rate, by the setting that gives one', async () => {
    const w = await world({ engine })
    try {
      const { key } = await w.key({ balance: usd })
      const mine = { accountId: testAccount, keyId: key.id }
      const at = Date.UTC(2026, 10, 20)
      await addReceipts(w, [{ ...mine, finishedAt: at, lines: linesOf(10, 20) }])
      expect(await lookAtRates(configOf(''), w.db)).toEqual([])
      await addReceipts(w, [
        { ...mine, finishedAt: at + 1, lines: classLines },
        { ...mine, finishedAt: at + 2, lines: classLines },
        { ...mine, finishedAt: at + 3, lines: classLines, model: 'acme/gone' },
      ])
      const ofOne = await classUnits(w.db, 1)
      expect(ofOne.map(({ units }) => units)).toEqual([1500, 200, 40, 50, 10])
      const found = await lookAtRates(configOf('cache_write_pusd = 187_500'), w.db)
      expect(found.map(({ status }) => status)).toEqual(['warn', 'warn', 'warn', 'warn'])
      expect(found.map(({ fix }) => fix?.split(' of ')[0])).toEqual([
        ...['set cache_read_pusd', 'set cache_write_1h_pusd'],
        ...['set audio_input_pusd', 'set image_input_pusd'],
      ])
      expect(found[0]?.message).toBe(
        'acme/small read 3,000 tokens of cached input without a rate for them.',
      )
      const all = ['cache_read', 'cache_write', 'cache_write_1h', 'audio_input', 'image_input']
      const rates = all.map((meter) => `${meter}_pusd = 1`).join('\n')
      expect(await lookAtRates(configOf(rates), w.db)).toEqual([
        expect.objectContaining({ status: 'ok', fix: null }),
      ])
    } finally {
      await w.stop()
    }
  }, 60_000)
})
