import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  grant,
  type Home,
  type MadeKey,
  makeHome,
  makeKey,
  must,
  noBinary,
  randomAccount,
  type Server,
} from '../support/binary.ts'
import { type EmptyDatabase, emptyDatabase, postgresServer } from '../support/postgres.ts'
import { until } from '../support/runs.ts'
import { seeded } from '../support/seeded.ts'

const costNusd = 1000
const priced = `[[models]]
id = "counterfoil/echo-1"
input_pusd = 0
output_pusd = 0
request_nusd = ${costNusd}
`
const json = { model: 'counterfoil/echo-1', input: 'hello' }

/** A key as the commands have made it, with what may still be spent by it. */
type KnownKey = {
  made: MadeKey
  parent?: KnownKey
  old: string[]
  left: number
  isPaused: boolean
  isRevoked: boolean
}

const engines = postgresServer ? (['sqlite', 'postgres'] as const) : (['sqlite'] as const)

describe.skipIf(noBinary).each(engines)('commands beside a server under load, on %s', (engine) => {
  let home: Home
  let server: Server
  let database: EmptyDatabase | undefined
  let isOver = false
  let load: Promise<unknown>
  let answered = 0
  beforeAll(async () => {
    database = engine === 'postgres' ? await emptyDatabase() : undefined
    home = await makeHome((database ? `database_url = "${database.url}"\n` : '') + priced)
    const account = randomAccount()
    if (database) await must(home, 'migrate')
    await grant(home, '100.00', account)
    const { secret: key } = await makeKey(home, { account })
    server = await home.start()
    const caller = async () => {
      while (!isOver) {
        expect((await server.call('/v1/runs', { key, json })).status).toBe(200)
        answered++
        await Bun.sleep(5)
      }
    }
    load = Promise.all(Array.from({ length: 4 }, caller))
  }, 90_000)
  afterAll(async () => {
    isOver = true
    await load
    await home?.remove()
    await database?.drop()
  }, 60_000)

  /** The answer that a run must have now: a status and the type of its error. */
  function due(balance: number, key: KnownKey): string {
    const chain: KnownKey[] = []
    for (let at: KnownKey | undefined = key; at; at = at.parent) chain.push(at)
    if (chain.some(({ isRevoked }) => isRevoked)) return '403 key_revoked'
    if (chain.some(({ isPaused }) => isPaused)) return '403 key_paused'
    if (chain.some(({ left }) => left < costNusd)) return '402 cap_exceeded'
    return balance < costNusd ? '402 insufficient_balance' : '200'
  }

  async function told(secret: string): Promise<string> {
    const answer = await server.call('/v1/runs', { key: secret, json })
    const { error } = (await answer.json()) as { error?: { type?: string } | null }
    return answer.status === 200 ? '200' : `${answer.status} ${error?.type}`
  }

  /**
   * One machine's server knows a command by its end. A node of a cluster may take a second to hear
   * of what another process allowed; it never lets pass what another process forbade.
   */
  async function expectTold(step: string, secret: string, wanted: string): Promise<void> {
    const isHeard = async () => (await told(secret)) === wanted
    if (engine === 'postgres' && wanted === '200') return void (await until(step, isHeard, 1000))
    const got = await told(secret)
    expect([step, got]).toEqual([step, wanted])
  }

  test('each key does what the last command says, from the end of that command on', async () => {
    const random = seeded(4663)
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
    const account = randomAccount()
    const keys: KnownKey[] = []
    let balance = 0
    const usd = (nusd: number) => (nusd / 1e9).toFixed(9)

    const steps: Record<string, () => Promise<void>> = {
      async create() {
        const alive = keys.filter(({ isRevoked }) => !isRevoked)
        const parent = alive.length > 0 && random() < 0.5 ? pick(alive) : undefined
        const isDead = parent && due(balance, parent).startsWith('403')
        if (isDead) return
        const left = (1 + Math.floor(random() * 4)) * costNusd
        const more = parent ? ['--parent', parent.made.id] : []
        const made = await makeKey(home, { account, cap: usd(left) }, ...more)
        keys.push({
          made,
          left,
          old: [],
          isPaused: false,
          isRevoked: false,
          ...(parent && { parent }),
        })
      },
      async grant() {
        const nusd = (2 + Math.floor(random() * 6)) * costNusd
        await grant(home, usd(nusd), account)
        balance += nusd
      },
      async pause() {
        const key = pick(keys.filter(({ isRevoked }) => !isRevoked))
        if (!key || due(balance, key) === '403 key_revoked') return
        await must(home, 'key', 'pause', key.made.id)
        key.isPaused = true
      },
      async resume() {
        const key = pick(keys.filter(({ isPaused }) => isPaused))
        if (!key || due(balance, key) === '403 key_revoked') return
        await must(home, 'key', 'resume', key.made.id)
        key.isPaused = false
      },
      async rotate() {
        const key = pick(keys)
        if (!key || due(balance, key) === '403 key_revoked') return
        const { secret } = JSON.parse(await must(home, 'key', 'rotate', key.made.id, '--json'))
        key.old.push(key.made.secret)
        key.made.secret = secret
      },
      async revoke() {
        const key = pick(keys)
        // Most of them have a key above, so that others go on.
        if (!key || (!key.parent && random() < 0.8)) return
        await must(home, 'key', 'revoke', key.made.id)
        key.isRevoked = true
      },
    }

    const names = [...Object.keys(steps), 'create', 'grant']
    for (const first of ['create', 'grant', 'create']) await steps[first]?.()
    const verdicts = new Set<string>()
    // A command on PostgreSQL takes three times as long.
    const isWhole = engine === 'sqlite'
    for (let i = 0; i < (isWhole ? 30 : 12); i++) {
      const name = pick(names)
      const before = answered
      await steps[name]?.()
      for (const [at, key] of keys.entries()) {
        const wanted = due(balance, key)
        await expectTold(`${i} ${name}: key ${at}`, key.made.secret, wanted)
        verdicts.add(wanted)
        if (wanted === '200') {
          balance -= costNusd
          for (let one: KnownKey | undefined = key; one; one = one.parent) one.left -= costNusd
        }
        for (const secret of key.old)
          expect([i, await told(secret)]).toEqual([i, '401 invalid_key'])
      }
      await until('the load to go on', () => answered > before)
    }
    const all = ['cap_exceeded', 'insufficient_balance', 'key_paused', 'key_revoked']
    for (const type of isWhole ? all : []) expect([...verdicts].join()).toContain(type)
    expect(verdicts).toContain('200')
    const other = await makeKey(home, { account })
    const shown = await server.get('/v1/balance', other.secret)
    expect(shown).toMatchObject({ balance_nusd: balance, held_nusd: 0 })
  }, 120_000)
})
