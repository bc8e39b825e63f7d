import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { csvColumns } from '../../../src/billing/usage/formats.ts'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { promise } from '../../support/promise.ts'
import { allRuns, pricedBuiltins, until } from '../../support/runs.ts'
import { engines, testAccount, usd, type World, world } from '../../support/world.ts'
import { addReceipts, countAll, parseCsv, picoOf, recordsOf } from './receipts.ts'

const day = 86_400_000
const now = Date.UTC(2026, 10, 21, 12)
const other = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'

describe.each(engines)('GET /v1/usage/export on %s', (engine) => {
  let w: World
  const keys: Record<string, { id: string; secret: string }> = {}
  const secretOf = (name: string) => keys[name]?.secret ?? ''
  const idOf = (name: string) => keys[name]?.id ?? ''
  const get = (query: string, key = 'root') =>
    w.call(`/v1/usage/export${query}`, { key: secretOf(key) })
  const textOf = async (query: string, key = 'root') => {
    const answer = await get(query, key)
    expect(answer.status).toBe(200)
    return answer.text()
  }

  beforeAll(async () => {
    w = await world({ engine, now, toml: pricedBuiltins })
    const make = async (name: string, ...[wish]: Parameters<World['key']>) => {
      const { key, secret } = await w.key({ name, ...wish })
      keys[name] = { id: key.id, secret }
    }
    await make('root', { balance: 10n * usd })
    await make('=child()', { parentId: idOf('root') })
    await make('grandchild', { parentId: idOf('=child()') })
    await make('sibling')
    await make('stranger', { account: other, balance: usd })
    const of = (name: string, at: number) => ({
      accountId: name === 'stranger' ? other : testAccount,
      keyId: idOf(name),
      finishedAt: at,
    })
    await addReceipts(w, [
      ...Object.keys(keys).map((name, i) => of(name, now - 2 * day + i)),
      { ...of('=child()', now - day), tags: { b: 'x,"y"\r\nz', a: '=1+1' }, discountBps: 1234 },
      { ...of('root', now - day + 1), status: 'failed', outcome: 'failed', lines: [], tags: {} },
    ])
    await countAll(w)
    // And some that are not counted yet.
    await addReceipts(w, [of('grandchild', now), of('stranger', now)])
  }, 60_000)
  afterAll(() => w.stop())

  const runKeysOf = async (key: string) =>
    recordsOf(await textOf('', key)).map((record) => record['key_name'])

  describe('200', () => {
    test('has the columns of the contract, in the order of the log', async () => {
      const [header, ...lines] = parseCsv(await textOf(''))
      expect(header).toEqual([...csvColumns])
      expect(lines.length).toBe(6)
      const places = new Map((await allRuns(w)).map(({ id, logPlace }) => [id, logPlace]))
      const found = lines.map(([, id]) => places.get(id ?? '') ?? Number.NaN)
      expect(found).toEqual(found.toSorted((a, b) => a - b))
    })

    promise`I10 C: An export holds what its key may see, and nothing else.`
    test('An export shows a key its own subtree and no other runs.', async () => {
      const root = ['root', "'=child()", 'grandchild', "'=child()", 'root', 'grandchild']
      expect(await runKeysOf('root')).toEqual(root)
      const child = ["'=child()", 'grandchild', "'=child()", 'grandchild']
      expect(await runKeysOf('=child()')).toEqual(child)
      expect(await runKeysOf('grandchild')).toEqual(['grandchild', 'grandchild'])
      expect(await runKeysOf('sibling')).toEqual(['sibling'])
      expect(await runKeysOf('stranger')).toEqual(['stranger', 'stranger'])
    })

    test('says of a run what its receipt says', async () => {
      const found = recordsOf(await textOf('')).find((record) => record['discount_usd'] !== '0.00')
      expect(found).toEqual({
        time: '2026-11-20T12:00:00.000Z',
        run_id: expect.stringMatching(/^run_/),
        receipt_id: expect.stringMatching(/^rcpt_/),
        receipt_digest: expect.stringMatching(/^0x[0-9a-f]{64}$/),
        key_id: idOf('=child()'),
        key_name: "'=child()",
        parent_key_id: idOf('root'),
        model: 'acme/small',
        kind: 'chat',
        outcome: 'complete',
        input_units: '12',
        output_units: '345',
        // 208,800 nano-USD, less 12.34 % rounded down.
        list_cost_usd: '0.0002088',
        discount_usd: '0.000025765',
        cost_usd: '0.000183035',
        cost_nusd: '183035',
        usage_source: 'reported',
        passport: '',
        tags_json: '{"a":"=1+1","b":"x,\\"y\\"\\r\\nz"}',
        ...{ cached_units: '0', cache_write_units: '0', reasoning_units: '0' },
        lines_json:
          '[{"meter":"input","price_pusd":150000,"quantity":12},' +
          '{"meter":"output","price_pusd":600000,"quantity":345}]',
      })
    })

    test('gives the same as JSON lines, not guarded', async () => {
      const lines = (await textOf('?format=jsonl')).trimEnd().split('\n').slice(0, -1)
      const objects = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
      expect(objects.length).toBe(6)
      for (const [i, record] of recordsOf(await textOf('')).entries()) {
        const { tags, lines, ...rest } = objects[i] ?? {}
        const { tags_json, lines_json, ...fields } = record
        expect([tags, lines]).toEqual([JSON.parse(tags_json ?? ''), JSON.parse(lines_json ?? '')])
        const asText = Object.entries(rest).map(([name, value]) => [name, String(value ?? '')])
        const unguarded = Object.entries(fields).map(([name, v]) => [name, v.replace(/^'/, '')])
        expect(asText).toEqual(unguarded)
      }
    })

    test('keeps to the range: a date with all of it, a time exactly', async () => {
      const count = async (query: string) => recordsOf(await textOf(query)).length
      expect(await count('?from=2026-11-19&to=2026-11-19')).toBe(3)
      expect(await count('?from=2026-11-20&to=2026-11-20')).toBe(2)
      expect(await count('?from=2026-11-20T12:00:00.001Z&to=2026-11-21')).toBe(2)
      expect(await count('?to=2026-11-19T12:00:00.001Z')).toBe(1)
      expect(await count('?from=2030-01-01')).toBe(0)
    })

    test('adds up in every row', async () => {
      for (const record of recordsOf(await textOf(''))) {
        const [list, discount, cost] = ['list_cost_usd', 'discount_usd', 'cost_usd'].map((name) =>
          picoOf(record[name] ?? ''),
        )
        expect(list).toBe((discount ?? 0n) + (cost ?? 0n))
        expect(cost).toBe(BigInt(record['cost_nusd'] ?? '') * 1000n)
      }
    })

    test('is a file to be saved, with a name, and says how far it goes', async () => {
      const { headers } = await get('?format=focus&from=2026-11-01&to=2026-11-30')
      expect(headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present')
      const asOf = headers.get('x-as-of')
      expect(asOf).toBe(String(await w.deps.usage.size()))
      const name = `counterfoil-focus-1.2-from-2026-11-01-to-2026-11-30-as-of-${asOf}.csv`
      expect(headers.get('content-disposition')).toBe(`attachment; filename="${name}"`)
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('x-request-id')).toStartWith('req_')
      const jsonl = await get('?format=jsonl')
      expect(jsonl.headers.get('content-type')).toBe('application/jsonl; charset=utf-8')
      const head = await w.call('/v1/usage/export', { method: 'HEAD', key: secretOf('root') })
      expect([head.status, await head.text()]).toEqual([200, ''])
      await until('the slot to be free', () => w.deps.exportSlots.count() === 0)
    })
  })

  test('gives identical bytes twice with the same as_of, while runs arrive and are counted', async () => {
    for (const format of ['csv', 'jsonl', 'focus']) {
      const first = await get(`?format=${format}`)
      const asOf = first.headers.get('x-as-of')
      const bytes = await first.bytes()
      const keyId = idOf('root')
      for (let round = 0; round < 3; round++) {
        const more = addReceipts(
          w,
          Array.from({ length: 20 }, (_, i) => ({
            accountId: testAccount,
            keyId,
            finishedAt: now - i * day,
          })),
        )
        const again = (await get(`?format=${format}&as_of=${asOf}`)).bytes()
        await Promise.all([more, countAll(w)])
        expect(Buffer.from(bytes).equals(Buffer.from(await again))).toBe(true)
      }
      expect((await get(`?format=${format}`)).headers.get('x-as-of')).not.toBe(asOf)
    }
    expect(recordsOf(await textOf('?as_of=0'))).toEqual([])
  }, 60_000)

  describe('400 invalid_request', () => {
    const wrong: [query: string, param: string][] = [
      ['?format=xml', 'format'],
      ['?format=CSV', 'format'],
      ['?as_of=-1', 'as_of'],
      ['?as_of=1.5', 'as_of'],
      ['?as_of=999999999', 'as_of'],
      ['?from=now', 'from'],
      ['?from=2026-11-21&to=2026-11-20', 'to'],
    ]
    test.each(wrong)('The export refuses the query %s.', async (query, param) => {
      const answer = await get(query)
      expect(answer.status).toBe(400)
      expect((await answer.json()).error).toMatchObject({ type: 'invalid_request', param })
    })
  })

  test('comes to what the ledger moved, to the nano-dollar', async () => {
    const { secret, key } = await w.key({ account: other })
    const prompts = Array.from({ length: 30 }, (_, i) => 'word '.repeat(i + 1))
    await Promise.all(
      prompts.map((content) => {
        const json = { model: 'counterfoil/echo-1', messages: [{ role: 'user', content }] }
        return w.call('/v1/chat/completions', { key: secret, json })
      }),
    )
    await w.deps.sequencer.flush()
    keys['payer'] = { id: key.id, secret }
    const { journal } = w.db.views
    const moved = await w.db.read((q) => rows(q.select().from(journal)))
    const paid = new Map(moved.map((transfer) => [transfer.ref, transfer.amount]))
    const records = recordsOf(await textOf('', 'payer'))
    expect(records.length).toBe(30)
    for (const { run_id, cost_nusd } of records) {
      expect(paid.get(run_id ?? '')).toBe(BigInt(cost_nusd ?? ''))
    }
    const billed = new Map<string, bigint>()
    for (const line of recordsOf(await textOf('?format=focus', 'payer'))) {
      const id = line['x_RunId'] ?? ''
      billed.set(id, (billed.get(id) ?? 0n) + picoOf(line['BilledCost'] ?? ''))
    }
    expect(billed.size).toBe(30)
    for (const [id, cost] of billed) expect(cost).toBe((paid.get(id) ?? 0n) * 1000n)
  }, 60_000)
})
