/** Two shards of two nodes each, with accounts that are open on the shard of their slot. */
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { issueKey } from '../../src/access/keys/issue.ts'
import { openCommandServices } from '../../src/app/open-command-services.ts'
import { slotOf } from '../../src/kernel/shard.ts'
import { grantCredit } from '../../src/ledger/grant.ts'
import { isInstalled, startBalancer } from '../../test/packaging/balancer.ts'
import { type Home, makeHome, randomAccount, type Server } from '../../test/support/binary.ts'
import { freePort } from '../../test/support/free-port.ts'
import { drilledModels, roomy } from '../../test/support/paced-service.ts'
import { startPacedUpstream } from '../../test/support/paced-upstream.ts'
import { configOf } from '../../test/support/world.ts'
import type { Asker } from './clients.ts'
import { makePgFarm, type PgFarm, type PgServer } from './postgres-server.ts'
import type { Undo } from './scene.ts'

export const hasHaproxy = isInstalled('haproxy')

/** What each account begins with, in nUSD. */
export const granted = 1_000_000_000n

const signerKeys = {
  s3: '59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
  s4: '5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a',
}
export type Id = keyof typeof signerKeys
const ids = ['s3', 's4'] as const

export type Shard = {
  id: Id
  /** The server that has its database now, and the URL by which its nodes reach that. */
  primary: PgServer
  address: string
  homes: Home[]
  nodes: Server[]
  toml: string
}

/** Where the database of a shard is. */
type Base = Pick<Shard, 'primary' | 'address'>

type BaseOf = (id: Id, farm: PgFarm) => Promise<Base>

/**
 * Two nodes on a primary of their own, for each shard.
 * @param baseOf makes the database of a shard; a server without a standby by default.
 */
async function startShards(url: string, undo: Undo, baseOf: BaseOf = plainBase): Promise<Shard[]> {
  const farm = await makePgFarm()
  undo.push(() => farm.remove())
  const upstream = await startPacedUpstream()
  undo.push(() => upstream.stop())
  const shards: Shard[] = []
  for (const id of ids) {
    const shard: Shard = { id, ...(await baseOf(id, farm)), homes: [], nodes: [], toml: '' }
    shards.push(shard)
    for (let i = 0; i < 2; i++) {
      const home = await makeHome()
      undo.push(() => home.remove())
      shard.toml = tomlOf(home, shard, { url, upstream: upstream.url })
      home.configure(shard.toml)
      shard.homes.push(home)
      shard.nodes.push(await home.start({ port: freePort() }))
    }
  }
  return shards
}

export async function plainBase(_id: Id, farm: PgFarm): Promise<Base> {
  const primary = await farm.primary()
  return { primary, address: primary.url }
}

type Around = { url: string; upstream: string }

function tomlOf(home: Home, { id, address }: Shard, { url, upstream }: Around): string {
  const map = ids.map((one, i) => {
    return `[${one}]\nslots = "${['0-511', '512-1023'][i]}"\nurl = "${url}"\n`
  })
  writeFileSync(join(home.folder, 'shards.toml'), map.join(''))
  const key = join(home.folder, 'drill.key')
  writeFileSync(key, `0x${signerKeys[id]}\n`)
  chmodSync(key, 0o600)
  return `base_url = "${url}"
database_url = "${address}"

[shard]
id = "${id}"
map = "${join(home.folder, 'shards.toml')}"

[signer]
key_file = "${key}"

${drilledModels(upstream)}
${roomy}`
}

/** Each shard has clients of its own, which wait while it is down. */
export const toBoth = (url: string, askers: readonly Asker[]) => ({
  origin: () => url,
  askers: ids.map((id) => askers.filter(({ shard }) => shard === id)),
  giveUpMs: 120_000,
})

export type Balanced = { url: string; shards: Shard[]; s3: Shard; s4: Shard }

/** The shards behind haproxy with the configuration that we give away. */
export async function startBalanced(undo: Undo, baseOf?: BaseOf): Promise<Balanced> {
  const port = freePort()
  const url = `http://127.0.0.1:${port}`
  const shards = await startShards(url, undo, baseOf)
  const nodes = shards.flatMap((shard) => shard.nodes)
  const host = `127.0.0.1:${port}`
  const config = 'packaging/haproxy-shards.cfg'
  const balancer = await startBalancer('haproxy', config, nodes, { port, host })
  undo.push(balancer.stop)
  const [s3, s4] = shards as [Shard, Shard]
  return { url, shards, s3, s4 }
}

/** Accounts by chance, each opened, funded and given a key by the shard of its slot. */
export async function openAccounts(
  shards: readonly Shard[],
  count: number,
  isWanted: (slot: number) => boolean = () => true,
): Promise<Asker[]> {
  const accounts: string[] = []
  while (accounts.length < count) {
    const account = randomAccount()
    if (isWanted(slotOf(account))) accounts.push(account)
  }
  const found: Asker[] = []
  for (const { id, toml } of shards) {
    const office = await openCommandServices(configOf(toml))
    try {
      for (const account of accounts.filter((one) => slotOf(one) < 512 === (id === 's3'))) {
        const why = { reason: 'drill', actor: 'drill' }
        await grantCredit(office, { account, amount: granted, ...why })
        const wish = { account, name: 'drill', capLimit: granted, capWindow: 'lifetime' as const }
        const { secret } = await issueKey(office, { ...wish, actor: 'drill' })
        found.push({ account, shard: id, secret })
      }
    } finally {
      await office.close()
    }
  }
  return found
}
