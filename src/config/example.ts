/** Writes the example configuration file, with every setting commented out. */
import { defaultOf } from './help.ts'
import { type Row, rows, table } from './table.ts'

export function exampleFile(): string {
  const sections = Object.keys(table).map((section) => {
    const own = rows.filter((row) => row.section === section)
    return [...(section === '' ? [] : [`# [${section}]`]), ...own.flatMap(linesOf)].join('\n')
  })
  return `${[opening, ...sections, entries].join('\n\n')}\n`
}

const opening = `## Counterfoil. A flag goes before a COUNTERFOIL_… variable, that before this file.
## What stands here is commented out: the default, or an example where there is none.
## counterfoil config --explain shows what is in force; counterfoil doctor what is missing.
## After a change: kill -HUP of the server takes on limits, models, plans and upstreams.`

const linesOf = (row: Row): string[] => [
  `## ${row.setting.meaning}`,
  `# ${row.name} = ${exampleOf(row)}`,
]

/** Example values of settings without a default. */
const examples: Record<string, string> = {
  base_url: '"https://gateway.example"',
  database_url: '"postgres://counterfoil@db.example/counterfoil"',
  'limits.client_bytes': '1_073_741_824',
  'limits.free_for_all': 'true',
  'sign_in.contract_wallets': 'true',
  'metrics.listen': '"127.0.0.1:4664"',
  'telemetry.endpoint': '"http://127.0.0.1:4318"',
  aliases: '{ "gpt-5" = "counterfoil/echo-1" }',
  'telemetry.headers': '{ authorization = "Bearer token" }',
  'chain.treasury': `"0x${'1'.repeat(40)}"`,
  'anchors.registry': `"0x${'2'.repeat(40)}"`,
  'anchors.sender_key_file': '"./anchor.key"',
  'shard.id': '"s3"',
  'shard.slots': '"256-383"',
  'shard.map': '"./shards.toml"',
  'signer.keystore_file': '"./signer.json"',
  'signer.password_file': '"./signer.password"',
  'signer.key_file': '"./signer.key"',
}

function exampleOf(row: Row): string {
  const { reader, initial } = row.setting
  if (initial === undefined) return examples[row.path] ?? '""'
  const checked = reader.check(reader.fromText(defaultOf(row)))
  return 'value' in checked ? reader.show(checked.value) : '""'
}

const entries = `## A server that speaks the OpenAI API. Its key is in a variable, or in a
## file of mode 0600 (api_key_file).
# [[upstreams]]
# id = "local"
# base_url = "http://127.0.0.1:8000/v1"
# api_key_env = "LOCAL_API_KEY"

## A model and its price in dollars a million tokens; input_pusd = 150_000 is the same.
# [[models]]
# id = "acme/small"
# route = ["local:small"]
# kind = "chat"
# context_tokens = 128_000
# max_output_tokens = 4096
# input = "$0.15/M"
# output = "$0.60/M"

## Plans beside free, which always exists; builder ($20) and scale ($200) need their id alone.
# [[plans]]
# id = "builder"
# price = "$20"
# discount_bps = 500
# limits = { rpm = 20_000, max_keys = 200 }`
