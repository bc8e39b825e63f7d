/** Two shards of two nodes each, with accounts that are open on the shard of their slot. */
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { issueKey } from '../../src/access/keys/issue.ts'
import { openOffice } from '../../src/app/open-office.ts'
import { loadConfig } from '../../src/config/config.ts'
import { slotOf } from '../../src/kernel/shard.ts'
import { grantCredit } from '../../src/ledger/grant.ts'
import { isInstalled } from '../../test/packaging/balancer.ts'
import { type Home, makeHome, type Server } from '../../test/support/binary.ts'
import { freePort } from '../../test/support/free-port.ts'
import { startPacedUpstream } from '../../test/support/paced-upstream.ts'
import { drilledModels, roomy } from '../load.ts'
import { makePgFarm, type PgFarm, type PgServer } from './postgres-server.ts'

export const hasHaproxy = isInstalled('haproxy')

/** What each account begins with, in nUSD. */
export const granted = 1_000_000_000n

const signerKeys = {
  s3: '59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
  s4: '5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a',
}
export type Id = keyof typeof signerKeys
export const ids = ['s3', 's4'] as const

export type Shard = {
  id: Id
  /** The server that has its database now, and the URL by which its nodes reach that. */
  primary: PgServer
  address: string
  homes: Home[]
  nodes: Server[]
  toml: string
}
export type Asker = { account: string; shard: Id; secret: string }
export type Undo = (() => Promise<unknown>)[]

/** Where the database of a shard is. */
type Base = Pick<Shard, 'primary' | 'address'>

/**
 * Two nodes on a primary of their own, for each shard.
 * @param baseOf makes the database of a shard; a server without a standby by default.
 */
export async function startShards(
  url: string,
  undo: Undo,
  baseOf: (id: Id, farm: PgFarm) => Promise<Base> = plainBase,
): Promise<Shard[]> {
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

/** Accounts by chance, each opened, funded and given a key by the shard of its slot. */
export async function openAccounts(shards: readonly Shard[], count: number): Promise<Asker[]> {
  const accounts = Array.from(
    { length: count },
    () => `0x${Buffer.from(crypto.getRandomValues(new Uint8Array(20))).toString('hex')}`,
  )
  const found: Asker[] = []
  for (const { id, toml } of shards) {
    const office = await openOffice(configOf(toml))
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

export function configOf(toml: string) {
  const readFile = (path: string) => ({ text: readFileSync(path, 'utf8'), mode: 0o600 })
  const inputs = { flags: {}, env: {}, fileText: toml, filePath: 'drill.toml', readFile }
  const loaded = loadConfig(inputs)
  if ('problems' in loaded) throw new Error(loaded.problems.join('\n'))
  return loaded.config
}
