/** `admin token create|list|rotate|revoke`: tokens of the operator API, also beside a server. */
import type { Command } from 'commander'
import { issueToken, revokeToken, rotateToken } from '../access/operators/issue-token.ts'
import { operatorTokenStore } from '../access/operators/store.ts'
import {
  defaultLifeMs,
  type OperatorScope,
  type OperatorToken,
  operatorScopes,
  toTokenView,
} from '../access/operators/token.ts'
import { openNamedServices } from './command-services.ts'
import { print, printJson, say, verb } from './context.ts'
import { readDuration, readWords } from './values.ts'

export function adminTokenCommands(admin: Command): void {
  const token = admin.command('token').description('tokens of the operator API')
  verb(token, 'create', 'create a token and print its secret, which is shown only once')
    .requiredOption('--scopes <a,b>', `what it may do: ${operatorScopes.join(', ')}`, readScopes)
    .option('--expires <duration>', 'lifetime: 90d, 24h (default: 90d, at most 366d)', readDuration)
    .option('--name <name>', 'display name', 'command line')
    .action(create)
  verb(token, 'list', 'list tokens, without their secrets').action(list)
  verb(
    token,
    'rotate',
    'replace the secret of a token and print the new one, which is shown only once',
  )
    .argument('<opt_…>', 'id of the token')
    .option('--overlap <duration>', 'how long the old one still works (default: 0)', readDuration)
    .action(rotate)
  verb(token, 'revoke', 'revoke a token at once and for good')
    .argument('<opt_…>', 'id of the token')
    .action(revoke)
}

type Options = Record<string, unknown> & { json?: boolean }
type CreateOptions = Options & { scopes: OperatorScope[]; expires?: number; name: string }

const readScopes = (text: string): OperatorScope[] => readWords('scope', text, operatorScopes)

async function openDesk(options: Options) {
  const office = await openNamedServices(options)
  return { ...office, operatorTokens: operatorTokenStore(office.db) }
}

async function create(options: CreateOptions): Promise<void> {
  await using desk = await openDesk(options)
  const lifeMs = options.expires ?? defaultLifeMs
  const wish = { name: options.name, scopes: options.scopes, lifeMs }
  const { token, secret } = await issueToken(desk, wish)
  if (options.json) return printJson({ ...toTokenView(token, desk.clock.now()), secret })
  say(`Created ${token.id}. The secret is shown only once:`)
  print(secret)
}

async function list(options: Options): Promise<void> {
  await using desk = await openDesk(options)
  const now = desk.clock.now()
  const views = (await desk.operatorTokens.list()).map((one) => toTokenView(one, now))
  if (options.json) return printJson({ object: 'list', data: views })
  for (const { id, status, expires_at, scopes, name } of views) {
    print(`${id}  ${status.padEnd(7)}  until ${expires_at}  ${scopes.join(',')}  ${name}`)
  }
  if (views.length === 0) say('No tokens. Create one with: counterfoil admin token create')
}

async function rotate(id: string, options: Options & { overlap?: number }): Promise<void> {
  await using desk = await openDesk(options)
  const { token, secret } = await rotateToken(desk, id, options.overlap ?? 0)
  if (options.json) return printJson({ ...toTokenView(token, desk.clock.now()), secret })
  say(`Rotated ${id}. The new secret is shown only once:`)
  print(secret)
}

async function revoke(id: string, options: Options): Promise<void> {
  await using desk = await openDesk(options)
  await revokeToken(desk, id)
  const found = await desk.operatorTokens.find(id)
  if (options.json) return printJson(toTokenView(found as OperatorToken, desk.clock.now()))
  say(`Revoked ${id}.`)
}
