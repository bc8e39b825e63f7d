import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sponsorAccount } from '../../../src/access/accounts/account.ts'
import { issueSetupLink, setupLifeMs } from '../../../src/access/operators/setup-link.ts'
import { setupLinkStore } from '../../../src/access/operators/store/setup-links.ts'
import { reloader } from '../../../src/app/reload.ts'
import { openSetupDesk } from '../../../src/app/setup/open-desk.ts'
import { readConfig } from '../../../src/config/file.ts'
import { insert, rows } from '../../../src/storage/db/sql/query-steps.ts'
import { browser, signInWith, wallet } from '../../access/accounts/wallet.ts'
import { configOf } from '../../config/load.ts'
import { plainAccount } from '../../support/plain-key.ts'
import { engines, freshDb, testAccount, type World, world } from '../../support/world.ts'
import { html, json, noted, other, otherWallet, post } from './admin.ts'

setDefaultTimeout(60_000)

let w: World
let folder: string
let path: string
const begin = '# ours\nbase_url = "http://localhost:3000"\n\n[limits]\nrpm = 5\n'

beforeAll(async () => {
  w = await world()
})
afterAll(() => w.stop())
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'counterfoil-setup-'))
  path = join(folder, 'counterfoil.toml')
  writeFileSync(path, begin)
  const flags = { config: path, data: join(folder, 'data') }
  const config = { ...configOf({ fileText: begin }), data: flags.data }
  const log = { ...w.deps.log, setLevel: () => {} }
  const readAgain = () => readConfig(flags, path)
  const reload = reloader({ service: w.deps, log, config, readAgain })
  w.deps.settings.admins = []
  w.deps.setup.desk = openSetupDesk({ path, flags, config, reload })
})
afterEach(() => {
  chmodSync(folder, 0o700)
  rmSync(folder, { recursive: true })
  w.deps.setup.desk = undefined
})

const link = async (alone = true) =>
  (await issueSetupLink(w.deps, '', { alone })).replace(/^.*(?=\/setup)/, '')
const text = async (from: ReturnType<typeof browser>, at = '/setup') =>
  (await from.call(at, { headers: html })).text()
/** A browser that opened a link, signed in with a wallet. */
async function opened(at: string, signer = wallet) {
  const own = browser(w)
  await own.call(at, { headers: html })
  await signInWith(own, signer)
  return own
}
const claim = (
  from: ReturnType<typeof browser>,
  account: string = wallet.address,
  headers = json,
) => post(from, '/setup/claim', { account }, headers)

test('The link makes a wallet the operator: in the file, with the older one beside it, in the audit and at once.', async () => {
  const own = browser(w)
  const at = await link()
  const first = await own.call(at, { headers: html })
  expect([first.status, first.headers.get('location')]).toEqual([303, '/setup'])
  expect(first.headers.get('referrer-policy')).toBe('no-referrer')
  expect(await text(own)).toContain('id="wallets"')
  await signInWith(own)
  const page = await text(own)
  expect(page).toContain(`+ admins = [&quot;${wallet.address}&quot;]`)
  expect(page).not.toContain(at.split('=')[1])
  const answer = await claim(own, wallet.address, html)
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/setup'])
  expect(own.jar.has('setup')).toBe(false)
  expect(readFileSync(path, 'utf8')).toBe(`admins = ["${wallet.address}"]\n${begin}`)
  expect(readFileSync(`${path}.1`, 'utf8')).toBe(begin)
  expect(w.deps.settings.admins).toEqual([testAccount])
  expect((await noted(w)).find(({ action }) => action === 'operator.claim')).toMatchObject({
    actor: testAccount,
    subject: testAccount,
  })
  const steps = await text(own)
  expect(steps).toContain('href="/dashboard/admin/models/add"')
  expect((await own.call('/dashboard/admin', { headers: html })).status).toBe(200)
})

test('The page tells a stranger only that there is an operator, once there is one.', async () => {
  const own = await opened(await link())
  expect((await claim(own)).status).toBe(200)
  const stranger = browser(w)
  const page = await text(stranger)
  expect(page).toContain('This service has an operator.')
  const main = page.slice(page.indexOf('<main'), page.indexOf('</main'))
  for (const word of [wallet.address, path, 'Provider', 'admins']) expect(main).not.toContain(word)
  const late = await opened(await link(), otherWallet)
  expect(late.jar.has('setup')).toBe(false)
  expect(await text(late)).toContain('This service has an operator.')
  expect((await claim(late, otherWallet.address)).status).toBe(409)
  expect(w.deps.settings.admins).toEqual([testAccount])
})

test('A used link, a made-up one, a late one and one that a newer replaced open nothing.', async () => {
  const made = `/setup?token=${'A'.repeat(43)}`
  const replaced = await link()
  const late = await link()
  w.advance(setupLifeMs + 1)
  for (const at of [made, replaced, late, '/setup?token=', `/setup?token=${'x'.repeat(9000)}`]) {
    const own = browser(w)
    const answer = await own.call(at, { headers: html })
    expect([303, 414, 431]).toContain(answer.status)
    expect([own.jar.has('setup'), (await text(own)).includes('counterfoil setup')]).toEqual([
      false,
      true,
    ])
  }
  w.advance(61_000)
  const kept = await link()
  await link(false)
  expect((await browser(w).call(kept)).headers.getSetCookie()).toHaveLength(1)
})

test('Of two wallets that claim at once, with one link or with two, one wins and the other is told.', async () => {
  for (const isOne of [true, false]) {
    writeFileSync(path, begin)
    w.deps.settings.admins = []
    const first = await link()
    const second = isOne ? first : await link(false)
    const [own, theirs] = [await opened(first), await opened(second, otherWallet)]
    const answers = await Promise.all([claim(own), claim(theirs, otherWallet.address)])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    const loser = answers.find(({ status }) => status === 409)
    expect(await loser?.text()).toMatch(/used a set-up link|has an operator|another wallet used it/)
    const winner = answers[0]?.status === 200 ? testAccount : other
    expect(w.deps.settings.admins).toEqual([winner])
    expect(readFileSync(path, 'utf8').toLowerCase()).toContain(winner)
  }
})

test('A file that cannot be written keeps the link, and the page shows the line and the command.', async () => {
  const own = await opened(await link())
  if (process.getuid?.() === 0) {
    // Root writes everywhere: a folder in the place of the older file stops it.
    mkdirSync(`${path}.new`)
    expect((await claim(own)).status).toBe(409)
    expect(readFileSync(path, 'utf8')).toBe(begin)
    rmSync(`${path}.new`, { recursive: true })
    expect((await claim(own)).status).toBe(200)
    return
  }
  chmodSync(folder, 0o500)
  const page = await text(own)
  expect(page).toContain(`counterfoil admin grant ${wallet.address}`)
  expect(page).not.toContain('action="/setup/claim"')
  const answer = await claim(own)
  expect(answer.status).toBe(409)
  expect(await answer.text()).toContain('admins = [')
  chmodSync(folder, 0o700)
  expect((await claim(own)).status).toBe(200)
})

test('No other site, no other wallet than the shown one and no frame can claim.', async () => {
  const own = await opened(await link())
  for (const headers of [
    { ...json, origin: 'https://evil.example' },
    { ...json, 'sec-fetch-site': 'cross-site' },
    { ...json, 'sec-fetch-site': 'same-site' },
  ]) {
    expect((await claim(own, wallet.address, headers)).status).toBe(403)
  }
  expect((await claim(own, otherWallet.address)).status).toBe(409)
  const page = await own.call('/setup', { headers: html })
  expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
  expect(page.headers.get('cache-control')).toBe('no-store')
  const stranger = browser(w)
  await signInWith(stranger, otherWallet)
  expect((await claim(stranger, otherWallet.address)).status).toBe(409)
  expect((await claim(browser(w))).status).toBe(401)
  expect(readFileSync(path, 'utf8')).toBe(begin)
})

test('A made-up Host and a next page change no address of the set-up.', async () => {
  const at = await link()
  const own = browser(w)
  const headers = { ...html, host: 'evil.example', 'x-forwarded-host': 'evil.example' }
  const answer = await own.call(`${at}&next=https://evil.example`, { headers })
  expect(answer.headers.get('location') ?? '/setup').toBe('/setup')
  expect(await text(own)).not.toContain('evil.example')
})

test('Guesses of one network end in 429, and a good link opens all the same.', async () => {
  const guess = () =>
    browser(w).call(`/setup?token=${crypto.randomUUID().replaceAll('-', '')}${'a'.repeat(11)}`)
  let refused = 0
  for (let i = 0; i < w.deps.settings.failedAuthPerMinute + 5; i++) {
    if ((await guess()).status === 429) refused++
  }
  expect(refused).toBeGreaterThan(0)
  const own = browser(w)
  expect((await own.call(await link())).status).toBe(303)
  expect(own.jar.has('setup')).toBe(true)
  w.advance(61_000)
})

test('A file that names an operator already, or is broken, refuses a claim and keeps the link.', async () => {
  const own = await opened(await link())
  for (const other of [`admins = ["${otherWallet.address}"]\n`, 'not toml [\n']) {
    writeFileSync(path, other)
    expect((await claim(own)).status).toBe(409)
    expect([readFileSync(path, 'utf8'), existsSync(`${path}.1`)]).toEqual([other, false])
  }
  writeFileSync(path, begin)
  expect((await claim(own)).status).toBe(200)
})

test('The first credit is granted once, and by the operator alone.', async () => {
  const own = await opened(await link())
  await claim(own)
  const stranger = browser(w)
  await signInWith(stranger, otherWallet)
  const once = `${w.deps.clock.now()}.0123456789abcdef`
  expect((await post(stranger, '/setup/credit', { once })).status).toBe(404)
  const before = (await w.deps.accounts.find(testAccount))?.balance ?? 0n
  await post(own, '/setup/credit', { once }, html)
  await post(own, '/setup/credit', { once }, html)
  const another = `${w.deps.clock.now()}.fedcba9876543210`
  await post(own, '/setup/credit', { once: another }, html)
  expect((await w.deps.accounts.find(testAccount))?.balance).toBe(before + 5_000_000_000n)
})

test.each(engines)('Of many that use up two links at once on %s, one wins.', async (engine) => {
  const { db, drop } = await freshDb(engine)
  const store = setupLinkStore(db)
  const at = { issuedAt: 0, expiresAt: 10 }
  await store.add({ ...at, hash: 'a' })
  await store.add({ ...at, hash: 'b' })
  const hashes = Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? 'a' : 'b'))
  const won = await Promise.all(hashes.map((hash) => store.take(hash, 1)))
  expect(won.filter(Boolean)).toHaveLength(1)
  expect(await db.read((q) => rows(q.select().from(db.tables.signInNonces)))).toEqual([])
  await db.close()
  await drop()
})

test.each(engines)('A service on %s is new until the first account exists.', async (engine) => {
  const { db, drop } = await freshDb(engine)
  const store = setupLinkStore(db)
  const add = (id: string) =>
    db.write(function* () {
      yield* insert(db.tables.accounts, [{ ...plainAccount, id }])
    })
  expect(await store.isNewService()).toBe(true)
  // The server makes the terminal's sponsor itself.
  await add(sponsorAccount)
  expect(await store.isNewService()).toBe(true)
  await add(testAccount)
  expect(await store.isNewService()).toBe(false)
  await db.close()
  await drop()
})

test('A guess at a claim shows a signed-in wallet neither the form nor the path of the file.', async () => {
  const stranger = browser(w)
  await signInWith(stranger, otherWallet)
  const answer = await claim(stranger, otherWallet.address, html)
  const page = await answer.text()
  expect([answer.status, page.includes('action="/setup/claim"'), page.includes(path)]).toEqual([
    409,
    false,
    false,
  ])
})
