import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { recoverTypedDataAddress } from 'viem'
import { toHex } from '../../../src/kernel/hex.ts'
import { structDigest } from '../../../src/verify/eip712.ts'
import { checkExport, type ExportManifest, splitExport } from '../../../src/verify/manifest.ts'
import { promise } from '../../support/promise.ts'
import { engines, testAccount, type World, world } from '../../support/world.ts'
import { addReceipts } from './receipts.ts'

const now = Date.UTC(2026, 10, 20, 12)
const bytesOf = (text: string) => new TextEncoder().encode(text)

describe.each(engines)('the manifest of an export on %s', (engine) => {
  let w: World
  let key: { id: string; secret: string }
  let signer: string
  beforeAll(async () => {
    w = await world({ engine, now })
    const made = await w.key({ name: 'says "hi", and more' })
    key = { id: made.key.id, secret: made.secret }
    const runs = Array.from({ length: 7 }, () => ({
      accountId: testAccount,
      keyId: key.id,
      finishedAt: now,
    }))
    await addReceipts(w, runs)
    await w.deps.sequencer.flush()
    signer = w.deps.signer.address
  }, 30_000)
  afterAll(() => w.stop())
  const get = async (path: string) => w.call(`/v1/usage/export${path}`, { key: key.secret })
  const manifestFor = async (query: string): Promise<ExportManifest> =>
    (await get(`/manifest?${query}`)).json()
  const statuses = (data: Uint8Array, manifest: unknown, by = [{ address: signer }]) =>
    checkExport({ data, manifest }, by).map(({ name, status }) => `${name} ${status}`)
  const good = ['manifest', 'bytes', 'rows', 'signature', 'checkpoint'].map((one) => `${one} pass`)

  promise`D58 H: An export that was changed does not fit its signed manifest.`
  test('is the last line of JSON lines, over the bytes before it, and the same each time', async () => {
    const first = await get('?format=jsonl')
    const text = await first.text()
    const split = splitExport(bytesOf(text))
    const manifest = split?.manifest as ExportManifest
    const rows = text.slice(0, text.lastIndexOf('\n', text.length - 2) + 1)
    expect(Object.keys(manifest).sort()).toEqual(
      ['type', 'rows', 'sum_nusd', 'as_of', 'sha256', 'checkpoint', 'signature'].sort(),
    )
    const sum = rows
      .trim()
      .split('\n')
      .reduce((all, line) => all + JSON.parse(line).cost_nusd, 0)
    expect([manifest.rows, manifest.sum_nusd]).toEqual([7, sum])
    expect(manifest.sha256).toBe(createHash('sha256').update(rows).digest('hex'))
    expect(statuses(split?.data ?? new Uint8Array(), manifest)).toEqual(good)
    const asOf = first.headers.get('x-as-of')
    await addReceipts(w, [{ accountId: testAccount, keyId: key.id, finishedAt: now }])
    await w.deps.sequencer.flush()
    expect(await (await get(`?format=jsonl&as_of=${asOf}`)).text()).toBe(text)
    expect(await manifestFor(`format=jsonl&as_of=${asOf}`)).toEqual(manifest)
  })

  test('stands beside CSV and FOCUS, and a wallet library checks its signature', async () => {
    for (const format of ['csv', 'focus']) {
      const file = await get(`?format=${format}`)
      const data = await file.bytes()
      const manifest = await manifestFor(`format=${format}&as_of=${file.headers.get('x-as-of')}`)
      expect(statuses(data, manifest)).toEqual(good)
      const { domain, other_types: types } = await (await w.call('/v1/signer')).json()
      const { signature: _, ...head } = manifest.checkpoint ?? ({} as never)
      const { type: __, signature, sha256, checkpoint, ...rest } = manifest
      const address = await recoverTypedDataAddress({
        domain,
        types: { ExportManifest: types.ExportManifest },
        primaryType: 'ExportManifest',
        message: {
          ...rest,
          issuer: checkpoint?.issuer,
          sha256: `0x${sha256}`,
          checkpoint: toHex(structDigest('Checkpoint', head)),
        } as never,
        signature: signature as `0x${string}`,
      })
      expect(address).toBe(signer as `0x${string}`)
    }
  })

  promise`D58`
  test('fails with a row changed, left out or added, and with any member changed', async () => {
    const text = await (await get('?format=jsonl')).text()
    const { data, manifest } = splitExport(bytesOf(text)) ?? { data: bytesOf(''), manifest: {} }
    const own = new TextDecoder().decode(data)
    const lines = own.split('\n')
    for (const changed of [
      own.replace('"cost_nusd":', '"cost_nusd":1'),
      lines.slice(1).join('\n'),
      `${own}${lines[0]}\n`,
      '',
      'time,cost_nusd\n1,2\n',
    ]) {
      const found = statuses(bytesOf(changed), manifest)
      expect(found).toContain('bytes fail')
      expect(found).toContain('rows fail')
    }
    const known = manifest as ExportManifest
    const changes: Partial<ExportManifest>[] = [
      { rows: known.rows + 1 },
      { sum_nusd: Number(known.sum_nusd) + 1 },
      { as_of: known.as_of + 1 },
      { sha256: 'ab'.repeat(32) },
      { checkpoint: null },
      { checkpoint: { ...known.checkpoint, size: '1' } as never },
      { signature: `0x${'00'.repeat(65)}` },
    ]
    for (const change of changes) {
      expect(statuses(data, { ...known, ...change })).toContain('signature fail')
    }
    const other = { address: `0x${'11'.repeat(20)}` }
    expect(statuses(data, manifest, [other])).toContain('signature fail')
    expect(checkExport({ data, manifest }, undefined).map(({ status }) => status)).toEqual([
      'pass',
      'pass',
      'pass',
      'unavailable',
      'unavailable',
    ])
  })

  test('that cannot be read decides nothing else', async () => {
    const known = await manifestFor('format=csv')
    const wrong: [object | null | string, string][] = [
      [null, ': not an object'],
      ['text', ': not an object'],
      [{ ...known, type: 'other' }, 'type: not a manifest'],
      [{ ...known, rows: -1 }, 'rows: not a whole number'],
      [{ ...known, rows: '7' }, 'rows: not a whole number'],
      [{ ...known, as_of: 1.5 }, 'as_of: not a whole number'],
      [{ ...known, sum_nusd: '12' }, 'sum_nusd: not a whole number'],
      [{ ...known, sha256: 'AB'.repeat(32) }, 'sha256: not 64 digits of lower-case hex'],
      [{ ...known, signature: 1 }, 'signature: not text'],
      [{ ...known, more: 1 }, 'more: unknown member'],
    ]
    for (const [manifest, reason] of wrong) {
      const checks = checkExport({ data: bytesOf(''), manifest }, undefined)
      expect([checks[0]?.status, checks[0]?.reason]).toEqual(['fail', reason])
      expect(checks.slice(1).every(({ status }) => status === 'skip')).toBe(true)
    }
    expect(splitExport(bytesOf('{"type":"other"}\n'))).toBeUndefined()
    expect(splitExport(bytesOf('no json'))).toBeUndefined()
    expect(splitExport(bytesOf(`a,cost_nusd\n${JSON.stringify(known)}\n`))).toBeUndefined()
    const twice = `{"type":"counterfoil.manifest","type":"counterfoil.manifest"}`
    expect(splitExport(bytesOf(twice))?.problems).toEqual([
      { path: 'type', message: 'given twice' },
    ])
  })

  test('of an empty log has no checkpoint', async () => {
    const manifest = await manifestFor('format=jsonl&as_of=0')
    expect(manifest).toMatchObject({ rows: 0, sum_nusd: 0, as_of: 0, checkpoint: null })
    expect(statuses(bytesOf(''), manifest).at(-1)).toBe('checkpoint skip')
  })
})
