import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { learnSlots } from '../../../src/app/learn-slots.ts'
import { moveSlots } from '../../../src/app/move-slots.ts'
import { deliverer } from '../../../src/billing/webhooks/deliver.ts'
import { slotOf } from '../../../src/kernel/shard.ts'
import { auditStore } from '../../../src/ledger/store/audit.ts'
import { ask } from '../../../src/storage/slots/store/carried.ts'
import { browser, signInWith } from '../../access/accounts/wallet.ts'
import {
  accepted,
  actFor,
  freshSigner,
  invited,
  jsonOf,
  type Person,
} from '../../access/members/people.ts'
import { startReceiver } from '../../support/event-receiver.ts'
import { nightly } from '../../support/nightly.ts'
import { pacedModels, startPacedUpstream } from '../../support/paced-upstream.ts'
import { postgresServer } from '../../support/postgres.ts'
import { until } from '../../support/runs.ts'
import { testPrivateKey, usd } from '../../support/world.ts'
import { movingShard } from './moving.ts'
import { keyOfS3, mapFile, misrouted, type ShardWorld, shardWorld } from './shards.ts'

setDefaultTimeout(120_000)

const baseUrl = 'https://gw.example'
/** The other shard has a signer of its own. */
const signers = { s3: testPrivateKey, s4: keyOfS3.slice(2) }

describe.skipIf(!postgresServer)('people, webhooks and passports in a move of their slot', () => {
  let s3: ShardWorld
  let s4: ShardWorld
  let owner: Person
  let key: Awaited<ReturnType<ShardWorld['key']>>
  let upstream: Awaited<ReturnType<typeof startPacedUpstream>>
  const receiver = startReceiver()
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-give-up-'))
  const manyRuns = nightly(300, 10_000)
  /** The plan Free has fifty, and a member's are among them. */
  const manyKeys = 40

  beforeAll(async () => {
    upstream = await startPacedUpstream()
    const toml = pacedModels(upstream.url)
    s3 = await shardWorld('s3', { engine: 'postgres', toml, signer: signers.s3 })
    s4 = await shardWorld('s4', { engine: 'postgres', toml, signer: signers.s4 })
    for (const { deps } of [s3, s4]) {
      deps.settings.webhookReach = { allowed: [], isLoopbackAllowed: true }
    }
    owner = await personOf('s3')
    key = await s3.key({ account: owner.wallet, balance: 10n * usd, capLimit: 5n * usd })
  })
  afterAll(async () => {
    await s3?.stop()
    await s4?.stop()
    await upstream?.stop()
    await receiver.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  /** A person whose slot is of a shard, signed in there. */
  async function personOf(shard: 's3' | 's4'): Promise<Person> {
    const isOf = (address: string) => slotOf(address) < 512 === (shard === 's3')
    let signer = freshSigner()
    while (!isOf(signer.address.toLowerCase())) signer = freshSigner()
    const own = browser(shard === 's3' ? s3 : s4)
    expect((await signInWith(own, signer)).status).toBe(200)
    return { own, wallet: signer.address.toLowerCase(), signer }
  }
  /** The same person with the same cookies at another shard. */
  const at = (w: ShardWorld, person: Person): Person => ({
    ...person,
    own: browser(w, person.own.jar),
  })
  const learn = () => Promise.all([s3, s4].map((w) => learnSlots(w.deps, w.db)))
  const move = (from: ShardWorld, to: ShardWorld, wallets: string[], waitMs = 5000) =>
    moveSlots({
      from: movingShard(from),
      to: movingShard(to),
      slots: [...new Set(wallets.map(slotOf))],
      clock: s3.deps.clock,
      waitMs,
    })
  const run = (w: ShardWorld, more = {}, model = 'stub/pace-5') =>
    w.call('/v1/runs', { key: key.secret, json: { model, input: 'hello', ...more } })

  test('all come along: members, invitations, the secret of a webhook, a passport, many keys', async () => {
    let dev = await personOf('s3')
    await accepted(dev, await invited(owner, 'developer'))
    await actFor(dev, owner.wallet)
    const token = await invited(owner, 'viewer')
    const hook = { url: receiver.url('/moved'), events: ['key.created'] }
    const { secret } = await jsonOf(owner.own.call('/api/portal/webhooks', { json: hook }))
    receiver.trust('/moved', secret)
    const passport = { handle: 'moved-agent', display_name: 'Moved', kind: 'agent' }
    expect((await owner.own.call('/api/portal/passports', { json: passport })).status).toBe(201)
    const shown = '/api/portal/passports/moved-agent/publish'
    expect((await owner.own.call(shown, { json: {} })).status).toBe(200)
    const keys = await Promise.all(
      Array.from({ length: manyKeys }, () => s3.key({ account: owner.wallet, capLimit: usd })),
    )
    for (let i = 0; i < manyRuns; i += 50) {
      const some = await Promise.all(Array.from({ length: 50 }, () => run(s3)))
      expect(some.map(({ status }) => status)).toEqual(some.map(() => 200))
    }
    const before = await jsonOf(s3.call('/v1/keys/self', { key: key.secret }))
    const wallets = [owner.wallet, dev.wallet]
    // A member whose slot stays keeps the account where it is.
    if (slotOf(owner.wallet) !== slotOf(dev.wallet)) {
      const alone = await move(s3, s4, [owner.wallet], 0)
      expect(alone).toMatchObject({ moved: false, members: 1 })
    }
    expect(await move(s3, s4, wallets)).toMatchObject({ moved: true })
    await learn()

    // Sessions, roles and the branch of a member.
    const [left, there] = [owner, at(s4, owner)]
    dev = at(s4, dev)
    const { members } = await jsonOf(there.own.call('/api/portal/members'))
    const told = members.find(
      (one: { address: string }) => one.address.toLowerCase() === dev.wallet,
    )
    expect([told.role, told.branch_key_id]).toEqual([
      'developer',
      expect.stringMatching(/^key_/),
    ] as never)
    const minted = { name: 'agent', cap: { limit_nusd: 1_000_000_000 } }
    const made = await jsonOf(dev.own.call('/api/portal/keys', { json: minted }))
    expect(made.parent_id).toBe(told.branch_key_id)
    expect(await misrouted(await left.own.call('/api/portal/members'))).toEqual([
      ...[421, 'misdirected_request', 's4'],
    ])
    // An invitation that was open is accepted on the other shard.
    const guest = await personOf('s4')
    expect((await accepted(guest, token)).status).toBe(200)
    // The key that the member made is told, signed with the secret that the owner knows.
    await until('a delivery', async () => {
      await deliverer(s4.deps)(new AbortController().signal)
      return receiver.arrivals.some(({ body }) => body.includes(made.id))
    })
    expect(receiver.arrivals.every(({ isSigned }) => isSigned)).toBe(true)
    // The profile is public there, and hidden where it was.
    const profile = '/v1/passports/moved-agent'
    expect((await jsonOf(s4.call(profile))).display_name).toBe('Moved')
    expect((await s3.call(profile)).status).toBe(404)
    // Every key works, and its cap counts what it spent before.
    for (const { secret: own } of [keys[0], keys.at(-1)] as typeof keys) {
      const answer = await s4.call('/v1/runs', {
        key: own,
        json: { model: 'stub/pace-5', input: 'hello' },
      })
      expect(answer.status).toBe(200)
    }
    const after = await jsonOf(s4.call('/v1/keys/self', { key: key.secret }))
    expect(after.cap).toEqual(before.cap)
    for (const { db, deps } of [s3, s4]) {
      expect(await auditStore(db).whole(deps.clock.now())).toEqual([])
    }
    // Without members the slot of the owner moves alone.
    await ask(drizzleOf(s4), sql`delete from members`)
    expect(await move(s4, s3, [owner.wallet])).toMatchObject({ moved: true })
    await learn()
    expect((await run(s3)).status).toBe(200)
  })

  test('a run in the background keeps the slot, and is told to the end where it began', async () => {
    const answer = await run(s3, { background: true }, 'stub/endless')
    expect(answer.status).toBe(202)
    const { id } = await jsonOf(answer)
    await until('its row', async () => (await s3.deps.runs.openHere()).length === 1)
    expect(await move(s3, s4, [owner.wallet], 0)).toMatchObject({ moved: false, runs: 1 })
    await learn()
    await s3.call(`/v1/runs/${id}/cancel`, { key: key.secret, method: 'POST' })
    const read = () => jsonOf(s3.call(`/v1/runs/${id}`, { key: key.secret }))
    await until('its end', async () => (await read()).finished_at !== null)
    await until('no hold', async () => (await s3.deps.runs.openHere()).length === 0)
    expect(await move(s3, s4, [owner.wallet])).toMatchObject({ moved: true })
    expect(await move(s4, s3, [owner.wallet])).toMatchObject({ moved: true })
    await learn()
    expect((await run(s3)).status).toBe(200)
  })

  test('`slot move --give-up` leaves a slot where it is after the command was killed', async () => {
    const slot = String(slotOf(owner.wallet))
    const [one, other] = await Promise.all([configFile(s3, 's3'), configFile(s4, 's4')])
    const words = ['src/main.ts', 'slot', 'move', slot, '--config', one, '--to-config', other]
    const cli = (...more: string[]) =>
      Bun.spawn([process.execPath, ...words, ...more], { stdout: 'pipe', stderr: 'pipe' })
    const end = async (child: ReturnType<typeof cli>) => {
      const said = await new Response(child.stderr).text()
      return [await child.exited, said] as const
    }
    // Nothing moves yet: there is nothing to give up.
    expect(await end(cli('--give-up'))).toEqual([1, expect.stringContaining('do not move')])
    const { id } = await jsonOf(await run(s3, { background: true }, 'stub/endless'))
    await until('its row', async () => (await s3.deps.runs.openHere()).length === 1)
    const killed = cli('--wait', '600')
    await until('the stop of both sides', async () => {
      const rows = await statesOf(s4, slot)
      return rows.length === 1 && rows[0]?.state === 'arriving'
    })
    killed.kill('SIGKILL')
    await killed.exited
    await learn()
    expect(await misrouted(await run(s3))).toEqual([503, 'unavailable', null])
    expect(await end(cli('--give-up'))).toEqual([
      0,
      expect.stringContaining(`The slots ${slot} stay with the shard s3.`),
    ])
    await learn()
    expect((await run(s3)).status).toBe(200)
    expect(await misrouted(await run(s4))).toEqual([421, 'misdirected_request', 's3'])
    await s3.call(`/v1/runs/${id}/cancel`, { key: key.secret, method: 'POST' })
    await until('no hold', async () => (await s3.deps.runs.openHere()).length === 0)
    // A slot whose move was given up can move later, to its end.
    const [code, said] = await end(cli())
    expect([code, said]).toEqual([0, expect.stringContaining(' accounts with ')])
    expect(await end(cli('--give-up'))).toEqual([2, expect.stringContaining('does not have')])
    await learn()
    expect((await run(s4)).status).toBe(200)
  })

  const drizzleOf = (w: ShardWorld) => movingShard(w).db.drizzle
  const statesOf = (w: ShardWorld, slot: string) =>
    ask<{ state: string }>(drizzleOf(w), sql`select state from slots where slot = ${Number(slot)}`)

  /** The configuration of a shard as its operator has it. */
  async function configFile(w: ShardWorld, id: 's3' | 's4'): Promise<string> {
    const found = await ask<{ name: string }>(drizzleOf(w), sql`select current_database() as name`)
    const url = new URL(postgresServer ?? '')
    url.pathname = `/${found[0]?.name}`
    const keyFile = join(folder, `${id}.key`)
    writeFileSync(keyFile, signers[id], { mode: 0o600 })
    const file = join(folder, `${id}.toml`)
    writeFileSync(
      file,
      `base_url = "${baseUrl}"\ndata = "${join(folder, id)}"\ndatabase_url = "${url.href}"\n` +
        `[signer]\nkey_file = "${keyFile}"\n[shard]\nid = "${id}"\nmap = "${mapFile()}"\n`,
    )
    return file
  }
})
