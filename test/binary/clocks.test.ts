import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import { noBinary, run, type Server } from '../support/binary.ts'
import { freePort } from '../support/free-port.ts'
import { postgresServer } from '../support/postgres.ts'
import { promise } from '../support/promise.ts'
import { until } from '../support/runs.ts'
import { type Pair, startPair } from './nodes.ts'

/** Debian's `faketime`, which gives one process another time of day. */
const folder = '/usr/lib'
const [found] = existsSync(folder)
  ? new Glob('*/faketime/libfaketime.so.1').scanSync({ cwd: folder })
  : []
/** How long it takes until every job of a node has looked at the others, in ms. */
const lookedAtMs = 12_000

describe.skipIf(noBinary || !postgresServer || !found)('a node whose clock is wrong', () => {
  let pair: Pair
  let right: Server
  let wrong: Server
  let env: Record<string, string>
  let setClock = (_offset: string): void => {}
  beforeAll(async () => {
    pair = await startPair()
    right = pair.nodes[0]
    await pair.nodes[1].stop()
    const file = join(pair.homes[1].folder, 'offset')
    setClock = (offset) => writeFileSync(file, offset)
    setClock('+15s')
    env = {
      LD_PRELOAD: join(folder, found ?? ''),
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    }
    wrong = await pair.homes[1].start({ port: freePort(), env })
  }, 90_000)
  afterAll(() => pair?.stop(), 30_000)

  promise`N2`
  test('warns at 15 s and refuses at 60 s; no run of a neighbour is interrupted', async () => {
    const { key } = await pair.funded('5.00')
    const call = { key: key.secret }
    const begin = async (node: Server): Promise<string> => {
      const json = { model: 'stub/endless', input: 'go on', background: true }
      return (await (await node.call('/v1/runs', { ...call, json })).json()).id
    }
    const show = async (id: string) => (await right.call(`/v1/runs/${id}`, call)).json()
    const flat = (node: Server) =>
      node.call('/v1/runs', { ...call, json: { model: 'stub/flat', input: 'hello' } })
    const doctor = async () => {
      const done = await run(pair.homes[1].folder, ['doctor', '--json'], env)
      const { findings } = JSON.parse(done.stdout) as { findings: { part: string }[] }
      return findings.find(({ part }) => part === 'clock')
    }
    const expectRunning = async (ids: string[]) => {
      for (const id of ids) expect((await show(id)).status).toBe('running')
    }
    const ids = [await begin(right), await begin(wrong)]
    for (const id of ids) {
      await until('the run to begin', async () => (await show(id)).status === 'running', 30_000)
    }

    await Bun.sleep(lookedAtMs)
    await expectRunning(ids)
    expect((await flat(wrong)).status).toBe(200)
    const told = await (await wrong.call('/v1/status')).json()
    expect([told.status, told.clock.status]).toEqual(['degraded', 'skewed'])
    expect(Math.abs(told.clock.offset_ms - 15_000)).toBeLessThan(1000)
    expect(await doctor()).toMatchObject({ status: 'warn', fix: 'timedatectl set-ntp true' })

    setClock('-60s')
    const refused = await flat(wrong)
    expect([refused.status, (await refused.json()).error.metadata]).toEqual([
      503,
      { reason: 'clock' },
    ])
    expect((await wrong.call('/readyz')).status).toBe(503)
    expect((await flat(right)).status).toBe(200)
    await Bun.sleep(lookedAtMs)
    await expectRunning(ids)
    expect(await doctor()).toMatchObject({ status: 'fail' })

    setClock('+0s')
    expect((await wrong.call('/readyz')).status).toBe(200)
    expect((await flat(wrong)).status).toBe(200)
    await expectRunning(ids)
    const printed = () => readFileSync(pair.homes[1].printed.stderr, 'utf8')
    await until('the log to say so', () => printed().includes('clock.right'), 10_000)
    for (const id of ids) await right.call(`/v1/runs/${id}/cancel`, { ...call, method: 'POST' })
    for (const event of ['clock.skewed', 'clock.wrong', 'clock.right']) {
      expect(printed().split(event).length - 1).toBe(1)
    }
  }, 120_000)

  promise`N2`
  test('waits at its start while it is 60 s off, says what both clocks show, and goes on', async () => {
    await wrong.stop()
    setClock('+60s')
    const port = freePort()
    wrong = await pair.homes[1].start({ port, env, probe: '/livez', isWaiting: true })
    const printed = () => readFileSync(pair.homes[1].printed.stderr, 'utf8')
    const reason = async () => {
      const ready = await wrong.call('/readyz')
      expect(ready.status).toBe(503)
      return (await ready.json()).error.metadata.reason
    }
    await until('the probe to say so', async () => (await reason()) === 'clock', 20_000)
    expect(printed()).toMatch(
      /the clock of this machine is \d\d\.\d s ahead of the database's \(\d{4}-\S+Z here, \d{4}-\S+Z there\); set it: timedatectl/,
    )
    setClock('+0s')
    const isReady = async () => (await wrong.call('/readyz')).status === 200
    await until('the node to serve', isReady, 20_000)
  }, 60_000)
})
