/** Two shards of two nodes each behind haproxy: many accounts, one shard down, one audit. */
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { issueKey } from '../../src/access/keys/issue.ts'
import { openOffice } from '../../src/app/open-office.ts'
import { loadConfig } from '../../src/config/config.ts'
import { slotOf } from '../../src/kernel/shard.ts'
import { grantCredit } from '../../src/ledger/grant.ts'
import { freePort } from '../../test/binary/nodes.ts'
import { isInstalled, startBalancer } from '../../test/packaging/balancer.ts'
import { type Home, makeHome, type Server } from '../../test/support/binary.ts'
import { startPacedUpstream } from '../../test/support/paced-upstream.ts'
import { until } from '../../test/support/runs.ts'
import { drilledModels, roomy } from '../load.ts'
import type { Wish } from './clients.ts'
import { judgeAcknowledged, judgeDatabase } from './judge.ts'
import { makePgFarm, type PgServer } from './postgres-server.ts'
import type { Claim, SceneResult } from './scene.ts'

export const hasHaproxy = isInstalled('haproxy')

const accountCount = 200
const runCount = 10_000
/** Clients of each shard. */
const workers = 12
const granted = 1_000_000_000n
/** How long the second shard is gone, in ms. */
const downMs = 5000
/** How long a client waits for an answer, and between two tries, in ms. */
const patienceMs = 15_000
const pauseMs = 100
/** How long a run is asked for, in ms. */
const giveUpMs = 120_000

const signerKeys = {
  s3: '59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
  s4: '5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a',
}
type Id = keyof typeof signerKeys
const ids = ['s3', 's4'] as const

export type Shard = { id: Id; primary: PgServer; homes: Home[]; nodes: Server[]; toml: string }
type Asker = { account: string; shard: Id; secret: string }
/** A run that a client wants, and whether it had to ask again. */
type Asked = Wish & { by: Asker; refused: number[]; doneAt: number }

export const shardsScene = {
  name: 'two shards of two nodes behind haproxy',
  expected:
    `${runCount.toLocaleString('en-US')} runs by ${accountCount} accounts, each paid once on its ` +
    'shard; both nodes of one killed under load do not touch the other; one audit of both logs',
}

export async function playShards(): Promise<SceneResult> {
  const faults: string[] = []
  const claim: Claim = (isTrue, fault) => void (isTrue || faults.push(fault))
  const undo: (() => Promise<unknown>)[] = []
  try {
    return { ...shardsScene, seen: await play(claim, undo), faults }
  } catch (error) {
    return { ...shardsScene, seen: '', faults: [...faults, `the scene broke off: ${error}`] }
  } finally {
    for (const step of undo.reverse()) await step()
  }
}

type Undo = (() => Promise<unknown>)[]

async function play(claim: Claim, undo: Undo): Promise<string> {
  const port = freePort()
  const url = `http://127.0.0.1:${port}`
  const shards = await startShards(url, undo)
  const nodes = shards.flatMap((shard) => shard.nodes)
  const host = `127.0.0.1:${port}`
  const config = 'packaging/haproxy-shards.cfg'
  const balancer = await startBalancer('haproxy', config, nodes, { port, host })
  undo.push(balancer.stop)
  const askers = await openAccounts(shards)
  const [s3, s4] = shards as [Shard, Shard]
  await judgeRoutes(askers, { s3, s4, url }, claim)
  const load = startLoad(url, askers)
  const startedAt = performance.now()
  await until('a third of the runs', () => load.paid() > runCount / 3, 600_000)
  const downAt = performance.now()
  await Promise.all(s4.nodes.map((node) => node.stop('SIGKILL')))
  await Bun.sleep(downMs)
  const upAt = performance.now()
  s4.nodes = await Promise.all(s4.homes.map((home, i) => home.start({ port: s4.nodes[i]?.port })))
  await load.ended
  const took = (performance.now() - startedAt) / 1000
  const meanwhile = load.asked.filter(({ by, doneAt }) => {
    return by.shard === 's3' && doneAt > downAt && doneAt < upAt
  })
  claim(meanwhile.length > 0, 'the other shard ended no run while one was down')
  const touched = load.asked.filter(({ by, refused }) => by.shard === 's3' && refused.length > 0)
  claim(touched.length === 0, `${touched.length} runs of the other shard were refused`)
  const late = load.asked.filter(({ by, refused }) => by.shard === 's4' && refused.length > 0)
  for (const shard of shards) await judgeShard(shard, load.asked, claim)
  const sums = await judgeSums(shards, load.asked, claim)
  const audited = await judgeLogs(s3.homes[0] as Home, claim)
  return [
    `${runCount} runs in ${took.toFixed(1)} s (${Math.round(runCount / took)} a second)`,
    `${meanwhile.length} runs on s3 while s4 was down, ${touched.length} refused; ` +
      `${late.length} of s4 asked again`,
    sums,
    audited,
  ].join('; ')
}

/** Two nodes on a primary of their own, for each shard. */
export async function startShards(url: string, undo: Undo): Promise<Shard[]> {
  const farm = await makePgFarm()
  undo.push(() => farm.remove())
  const upstream = await startPacedUpstream()
  undo.push(() => upstream.stop())
  const shards: Shard[] = []
  for (const id of ids) {
    const primary = await farm.primary()
    const shard: Shard = { id, primary, homes: [], nodes: [], toml: '' }
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

type Around = { url: string; upstream: string }

function tomlOf(home: Home, { id, primary }: Shard, { url, upstream }: Around): string {
  const map = ids.map((one, i) => {
    return `[${one}]\nslots = "${['0-511', '512-1023'][i]}"\nurl = "${url}"\n`
  })
  writeFileSync(join(home.folder, 'shards.toml'), map.join(''))
  const key = join(home.folder, 'drill.key')
  writeFileSync(key, `0x${signerKeys[id]}\n`)
  chmodSync(key, 0o600)
  return `base_url = "${url}"
database_url = "${primary.url}"

[shard]
id = "${id}"
map = "${join(home.folder, 'shards.toml')}"

[signer]
key_file = "${key}"

${drilledModels(upstream)}
${roomy}`
}

/** Accounts by chance, each opened, funded and given a key by the shard of its slot. */
async function openAccounts(shards: readonly Shard[]): Promise<Asker[]> {
  const accounts = Array.from(
    { length: accountCount },
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

/** Every account is at home where the balancer sends it; a node of the other shard says where. */
async function judgeRoutes(
  askers: readonly Asker[],
  { s3, s4, url }: { s3: Shard; s4: Shard; url: string },
  claim: Claim,
): Promise<void> {
  for (const { secret, shard } of askers) {
    const headers = { authorization: `Bearer ${secret}` }
    const right = await fetch(`${url}/v1/keys/self`, { headers })
    claim(right.status === 200, `a key of ${shard} was ${right.status} through the balancer`)
    const other = shard === 's3' ? s4 : s3
    const wrong = await other.nodes[0]?.call('/v1/keys/self', { key: secret })
    const named = wrong?.headers.get('x-counterfoil-shard')
    claim(
      wrong?.status === 421 && named === shard,
      `the other shard said ${wrong?.status} ${named}`,
    )
  }
}

/**
 * Clients that ask for each run until it is acknowledged, under an Idempotency-Key of its own. Each
 * shard has clients of its own, which wait while it is down.
 */
function startLoad(url: string, askers: readonly Asker[]) {
  const asked: Asked[] = []
  let paid = 0
  const clientOf = (own: readonly Asker[]) => {
    const count = (own.length * runCount) / askers.length
    let turn = 0
    return async (): Promise<void> => {
      while (turn < count) {
        const by = own[turn++ % own.length] as Asker
        const idempotencyKey = `drill-${asked.length}`
        const times = { askedAt: performance.now(), doneAt: 0 }
        const wish: Asked = { idempotencyKey, ...times, paid: undefined, by, refused: [] }
        asked.push(wish)
        while (!wish.paid && performance.now() < times.askedAt + giveUpMs) await askOnce(url, wish)
        if (wish.paid) paid++
        wish.doneAt = performance.now()
      }
    }
  }
  const clients = ids.flatMap((id) => {
    const client = clientOf(askers.filter(({ shard }) => shard === id))
    return Array.from({ length: workers }, client)
  })
  return { asked, paid: () => paid, ended: Promise.all(clients) }
}

async function askOnce(url: string, wish: Asked): Promise<void> {
  const headers = {
    authorization: `Bearer ${wish.by.secret}`,
    'content-type': 'application/json',
    'idempotency-key': wish.idempotencyKey,
  }
  const body = JSON.stringify({ model: 'stub/pace-5', input: 'a drill' })
  const signal = AbortSignal.timeout(patienceMs)
  const answer = await fetch(`${url}/v1/runs`, { method: 'POST', headers, body, signal }).catch(
    () => undefined,
  )
  if (answer?.status === 200) {
    const { id, receipt } = (await answer.json()) as Answer
    wish.paid = { runId: id, receiptId: receipt.id, cost: receipt.cost_nusd, at: performance.now() }
    return
  }
  wish.refused.push(answer?.status ?? 0)
  await Bun.sleep(pauseMs)
}

type Answer = { id: string; receipt: { id: string; cost_nusd: number } }

async function judgeShard({ id, primary }: Shard, asked: readonly Asked[], claim: Claim) {
  await judgeDatabase(primary, claim)
  const own = asked.filter(({ by }) => by.shard === id)
  await judgeAcknowledged(primary, own, claim)
  const strange = own.filter(({ paid }) => paid && !paid.runId.startsWith(`run_${id}`))
  claim(strange.length === 0, `${strange.length} runs of ${id} have ids of another shard`)
  const accounts = await primary.ask<{ id: string }>('select id from accounts')
  const foreign = accounts.filter((row) => slotOf(row.id) < 512 !== (id === 's3'))
  claim(foreign.length === 0, `${id} has ${foreign.length} accounts of other slots`)
}

/** The grants of both shards equal all balances and acknowledged runs, to the nano-dollar. */
async function judgeSums(shards: readonly Shard[], asked: readonly Asked[], claim: Claim) {
  let left = 0n
  for (const { primary } of shards) {
    const [row] = await primary.ask<{ sum: string }>(
      'select coalesce(sum(balance), 0)::text as sum from accounts',
    )
    left += BigInt(row?.sum ?? 0)
  }
  const spent = asked.reduce((sum, { paid }) => sum + BigInt(paid?.cost ?? 0), 0n)
  const all = granted * BigInt(accountCount)
  claim(left + spent === all, `${left} nUSD are left and ${spent} spent of ${all}`)
  return `${spent} nUSD spent and ${left} left of ${all}`
}

async function judgeLogs(home: Home, claim: Claim): Promise<string> {
  const map = join(home.folder, 'shards.toml')
  const { code, stdout } = await home.cli('audit', '--shards', map)
  const passed = stdout.match(/Every check passed: .*/g) ?? []
  claim(code === 0 && passed.length === 2, `the audit of both logs ended with ${code}: ${stdout}`)
  return `one audit of both logs: ${passed.map((line) => line.slice(20)).join(' ')}`
}
