import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { privateKeyToAccount } from 'viem/accounts'
import { type Browser, browser } from '../../access/accounts/wallet.ts'
import { allRuns } from '../../support/runs.ts'
import { engines, type World, world } from '../../support/world.ts'
import { askByStream, postForm, readable, runPath, saidIn, signedIn } from './support.ts'

const path = '/api/portal/console/command'
const other = privateKeyToAccount(
  '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
)

describe.each(engines)('POST /api/portal/console/command, on %s', (engine) => {
  let w: World
  let own: Browser
  let runId: string
  let receiptId: string
  beforeAll(async () => {
    w = await world({ engine })
    own = await signedIn(w)
    const ended = (await askByStream(own, { model: 'counterfoil/echo-1', input: 'hi' })).at(-1)
    receiptId = ended?.receipt?.id ?? ''
    runId = `run_${receiptId.slice(5)}`
  }, 60_000)
  afterAll(() => w?.stop())

  const ask = async (command: string, as = own) => {
    const answer = await as.call(path, { json: { command } })
    return { status: answer.status, body: await answer.json() }
  }

  test('knows the terminal’s look-ups and one’s own runs, and asks no model', async () => {
    const before = (await allRuns(w)).length
    const { body } = await ask('help')
    expect(body).toMatchObject({ object: 'terminal.result', command: 'help' })
    const said = body.lines.join('\n')
    for (const word of ['status', 'verify', 'run <run id>']) expect(said).toContain(word)
    expect(said).not.toContain('ask <text>')
    expect((await ask('ask hello')).status).toBe(400)
    expect((await ask('status')).status).toBe(200)
    expect(await allRuns(w)).toHaveLength(before)
  })

  test('shows one’s own private receipt and runs', async () => {
    const receipt = await ask(`receipt ${receiptId}`)
    expect(receipt.body.data).toMatchObject({ visibility: 'private', type: 'counterfoil.receipt' })
    expect((await ask(`verify ${receiptId}`)).body.data).toMatchObject({ valid: true, hidden: [] })
    const list = await (await own.call('/api/portal/runs')).json()
    expect((await ask('runs')).body.data).toEqual(list)
    expect((await ask(`run ${runId}`)).body.data).toEqual(list.data[0])
  })

  test('and of no one else', async () => {
    const stranger = await signedIn(w, 0n, other)
    for (const command of [`receipt ${receiptId}`, `verify ${receiptId}`, `run ${runId}`]) {
      expect((await ask(command, stranger)).status).toBe(404)
    }
    expect((await ask('runs', stranger)).body.data.data).toEqual([])
  })

  test('without a session: 401; an unknown one: 400 with the nearest', async () => {
    expect((await ask('help', browser(w))).status).toBe(401)
    const { status, body } = await ask('rnus')
    expect([status, body.error.metadata]).toEqual([400, { nearest: 'runs' }])
  })

  test('a message of the form that begins with a slash is a command, charged nothing', async () => {
    const before = (await allRuns(w)).length
    const fields = { model: 'counterfoil/echo-1', turns: '[]' }
    const page = await postForm(own, w, runPath, { ...fields, input: '/runs' })
    expect(page.status).toBe(200)
    expect(readable(await page.text())).toContain(runId)
    const slip = await postForm(own, w, runPath, { ...fields, input: '/rnus' })
    expect(slip.status).toBe(400)
    const html = await slip.text()
    expect(readable(html)).toContain('Did you mean "runs"?')
    expect(html).toContain('>/rnus</textarea>')
    expect(await allRuns(w)).toHaveLength(before)
  })

  test('what programs send is for the model, and so is a slash behind a space', async () => {
    const asked = { model: 'counterfoil/echo-1', input: '/runs' }
    expect(saidIn(await askByStream(own, asked))).toBe('/runs')
    const spaced = { ...asked, input: ' /runs', turns: '[]' }
    const page = await postForm(own, w, runPath, spaced)
    expect(readable(await page.text())).not.toContain(runId)
  })
})
