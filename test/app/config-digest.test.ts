import { expect, test } from 'bun:test'
import { configDigest, shareConfigDigest } from '../../src/app/config-digest.ts'
import { lookAtConfigDigests } from '../../src/cli/doctor-cluster.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { nodeLease, takeLease } from '../../src/storage/db/engine/lease.ts'
import { configOf, engines, freshDb } from '../support/world.ts'

const file = (price: number, more = '') => `
[[upstreams]]
id = "near"
base_url = "http://127.0.0.1:9/v1"
${more}
[[models]]
id = "acme/small"
kind = "chat"
context_tokens = 1_000
max_output_tokens = 100
input_pusd = ${price}
output_pusd = 2
route = ["near:small"]
`

test('A digest follows prices and upstreams, and not the settings of one machine.', () => {
  const digest = configDigest(configOf(file(1)))
  expect(digest).toMatch(/^[0-9a-f]{64}$/)
  expect(configDigest(configOf(`listen = "127.0.0.1:9"\n${file(1)}`))).toBe(digest)
  expect(configDigest(configOf(file(2)))).not.toBe(digest)
  expect(configDigest(configOf(file(1, 'status = "disabled"')))).not.toBe(digest)
})

test.each(engines)(
  'On %s nodes learn the digests of the live ones, and doctor names one that differs.',
  async (engine) => {
    const { db, drop } = await freshDb(engine)
    try {
      const config = configOf(file(1))
      const nodes = [file(1), file(2)].map((text, at) => ({
        health: { configs: new Map<string, string>() },
        settings: { node: `node_${at}`, configDigest: configDigest(configOf(text)) },
      }))
      const alive = nodes.map(({ settings }) => settings.node)
      const share = async (names: readonly string[]) => {
        for (const node of nodes.slice(0, names.length)) {
          await takeLease(db, systemClock, nodeLease(node.settings.node), node.settings.node)
          await shareConfigDigest(node as never, db, names)
        }
      }
      await share(alive)
      expect([...(nodes[1]?.health.configs ?? [])]).toEqual(
        nodes.map(({ settings }) => [settings.node, settings.configDigest]),
      )
      const [finding] = await lookAtConfigDigests(config, db)
      expect(finding).toMatchObject({
        status: 'warn',
        message: expect.stringContaining('node_1 ('),
      })
      await share(['node_0'])
      expect([...(nodes[0]?.health.configs.keys() ?? [])]).toEqual(['node_0'])
      expect(await lookAtConfigDigests(config, db)).toMatchObject([{ status: 'ok' }])
    } finally {
      await db.close()
      await drop()
    }
  },
)
