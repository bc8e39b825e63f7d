import { type ExportedKey, exportFormats } from '../../src/billing/usage/formats.ts'
import type { ExportedRun } from '../../src/billing/usage/store.ts'
import { Exit } from '../../src/cli/context.ts'
import {
  readAccount,
  readAddress,
  readDuration,
  readList,
  readScopes,
  readUsd,
  readWindow,
} from '../../src/cli/values.ts'
import { withAdmins } from '../../src/config/admins.ts'
import { loadConfig } from '../../src/config/config.ts'
import { exampleFile } from '../../src/config/example.ts'
import { rows } from '../../src/config/table.ts'
import { maxNusd } from '../../src/kernel/money.ts'
import { parseCsv } from '../billing/usage/receipts.ts'
import { isRefusal, must, type Target } from './run.ts'

const file = `listen = "127.0.0.1:0"
base_url = "https://gw.example"
trusted_proxies = ["10.0.0.0/8"]
admins = ["0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266"]
[limits]
admission = 1_024
[[upstreams]]
id = "local"
base_url = "http://127.0.0.1:8000/v1/"
api_key_env = "LOCAL_KEY"
[[models]]
id = "acme/small"
kind = "chat"
route = ["local:small:8b"]
context_tokens = 128_000
max_output_tokens = 4096
input_pusd = 150_000
output_pusd = 600_000
[[plans]]
id = "builder"
discount_bps = 250
limits = { rpm = 600, max_keys = 20 }
`
/** Every setting, none of them commented out: most have to be changed. */
const example = exampleFile().replace(/^# ?/gm, '')

const inputs = { filePath: 'counterfoil.toml', readFile: () => undefined }
const isUsage = (error: unknown): boolean => error instanceof Exit || isRefusal(error)

const run: ExportedRun = {
  id: 'run_01k9c0000000000000000000aa',
  place: 7,
  accountId: '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
  keyId: 'key_01k9c0000000000000000000bb',
  model: 'acme/small',
  kind: 'chat',
  route: 'acme:small',
  status: 'succeeded',
  outcome: 'complete',
  createdAt: Date.UTC(2026, 11, 31, 23, 59, 58, 250),
  startedAt: Date.UTC(2026, 11, 31, 23, 59, 58, 900),
  firstByteAt: Date.UTC(2026, 11, 31, 23, 59, 59, 100),
  finishedAt: Date.UTC(2026, 11, 31, 23, 59, 59, 999),
  lines: [
    { meter: 'input', quantity: 31, price: '150001' },
    { meter: 'output', quantity: 7, price: '600000' },
  ],
  cost: 8414n,
  discountBps: 500,
  usageSource: 'reported',
  priceList: 'prices@3',
  passport: 'my-agent',
  issuer: 'https://gw.example',
  tags: { team: 'red' },
  digest: new Uint8Array(32).fill(1),
}

/** What a spreadsheet would run, also behind what it reads away. */
const formula = /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/

/** A name, a tag and a model as someone chose them come back as they were, and as text. */
function exported(text: string): void {
  // Halves of characters and long names are refused where they come in.
  const name = text.slice(0, 1000).toWellFormed()
  const own = { ...run, model: name, tags: { [name.slice(0, 64).toWellFormed()]: name } }
  const key: ExportedKey = { name, parentId: null }
  const [row] = parseCsv(exportFormats.csv.linesOf(own, key))
  must(row?.length === exportFormats.csv.header.split(',').length, 'as many fields as columns')
  must(row?.includes(name) || row?.includes(`'${name}`) === true, 'the name comes back')
  must(!row?.some((field) => formula.test(field)), 'no field runs as a formula')
  const focus = parseCsv(exportFormats.focus.linesOf(own, key))
  must(focus.length === 2, 'a record for each meter')
  must(!focus.flat().some((field) => formula.test(field)), 'no field runs as a formula')
  const line = exportFormats.jsonl.linesOf(own, key)
  must(line.indexOf('\n') === line.length - 1, 'one line')
  must(JSON.parse(line).key_name === name, 'the name comes back')
}

/** What operators write, and what is written for the programs of others. */
export const operatorTargets: readonly Target[] = [
  {
    name: 'configuration file',
    good: [file, example, ''],
    read(text) {
      const loaded = loadConfig({
        ...inputs,
        flags: {},
        env: { LOCAL_KEY: 'sk-x' },
        fileText: text,
      })
      const problems = 'problems' in loaded ? loaded.problems : []
      must(!problems.join().includes('sk-x'), 'no secret in a problem')
      must(
        problems.every((problem) => problem.isWellFormed() || !text.isWellFormed()),
        'words',
      )
    },
  },
  {
    name: 'list of admins in a file',
    good: [file, 'admins = []\n'],
    read(text) {
      const changed = withAdmins(text, ['0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'])
      must(changed === undefined || changed.includes('0xf39f'), 'the new one')
    },
  },
  {
    name: 'flags and variables',
    good: ['127.0.0.1:4663', '5.00', '4_194_304', 'true', '10.0.0.0/8,::1', 'https://gw.example'],
    read(text, prng) {
      const row = prng.pick(rows)
      const from =
        prng.below(2) === 0 ? { flags: { [row.option]: text } } : { env: { [row.env]: text } }
      loadConfig({ ...inputs, flags: {}, env: {}, fileText: undefined, ...from })
    },
  },
  {
    name: 'words of the command line',
    isNo: isUsage,
    good: ['90d'],
    read(text) {
      must(readDuration(text) <= 1e7 * 86_400_000, 'a duration')
    },
  },
  {
    name: 'amounts and addresses of the command line',
    isNo: isUsage,
    good: ['5.00', '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266', 'runs:read,keys:mint', 'month'],
    read(text) {
      if (text.startsWith('0x')) must(readAccount(text) === readAddress(text).toLowerCase(), 'one')
      else if (text.includes(':')) readScopes(text)
      else if (/^[a-z]/.test(text)) readWindow(text)
      else must(readUsd(text) <= maxNusd, 'an amount')
      readList(text)
    },
  },
  { name: 'export', good: ['agent', '=cmd|calc!A0', 'a "b", c\r\nd', "'@SUM(1)"], read: exported },
]
