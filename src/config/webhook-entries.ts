/** The operator's webhooks in the configuration: `[[webhooks]]`. */
import { parseBlock } from '../kernel/network-block.ts'
import { isTarget } from '../models/upstream/checked-post.ts'
import { accountEvents, type EventType, operatorEvents } from '../storage/outbox/event.ts'
import { readList, refuseTwice } from './read-list.ts'
import { needed, optional, readTable, secret, set, type ValuesOf } from './setting.ts'
import { filePath, httpUrl, upstreamId as id, listOf, oneOf, text } from './values.ts'

const operatorTypes = Object.keys(operatorEvents) as EventType[]
const types = [...operatorTypes, ...Object.keys(accountEvents)] as EventType[]

/** The fields of an entry. */
export const webhookFields = {
  id: needed(id, 'Name of the webhook; waiting deliveries belong to it.'),
  url: secret(
    needed(httpUrl, 'Where events are posted to: https, at a public or an allowed address.'),
  ),
  events: set(
    listOf(oneOf(...types)),
    operatorTypes.join(','),
    'Types of events; those of accounts come from every account.',
  ),
  format: set(
    oneOf('standard', 'slack', 'discord'),
    'standard',
    'Format of messages: the event, or a message of that chat.',
  ),
  secret_env: optional(
    text('name', 'the name of an environment variable', /^[A-Za-z_][A-Za-z0-9_]*$/),
    'Environment variable with the secret that signs: whsec_ and 24 to 64 bytes in base64. ' +
      'The format standard needs it, here or as a file.',
  ),
  secret_file: optional(filePath, 'File with the secret; readable by its owner only.'),
} as const

type Entry = ValuesOf<typeof webhookFields>

/** A webhook of the operator with its secret at hand; chats have none. */
export type WebhookConfig = Omit<Entry, 'secret_env' | 'secret_file'> & {
  secret: string | undefined
}

type EntryContext = {
  /** The secret that an entry names; undefined without one, or after adding to the problems. */
  findSecret: (entry: Entry, where: string) => string | undefined
  allowNetworks: readonly string[]
  /** While it is tried out, a receiver may be on the same machine. */
  isDev: boolean
}

export function readWebhooks(
  raw: unknown,
  around: EntryContext,
  problems: string[],
): WebhookConfig[] {
  const allowed = around.allowNetworks.flatMap((one) => parseBlock(one) ?? [])
  const reach = { allowed, isLoopbackAllowed: around.isDev }
  const webhooks = readList('webhooks', raw, problems, (entry, where) => {
    const read = readTable(webhookFields, entry, where, problems)
    if (!read) return undefined
    const { secret_env: variable, secret_file: file, ...rest } = read
    if (!isTarget(rest.url, reach)) {
      problems.push(`${where}.url must be https:// at a public address or in allow_networks`)
    }
    if (rest.events.length === 0) problems.push(`${where}.events must name an event`)
    if (rest.format === 'standard' && !variable && !file) {
      problems.push(`${where}: secret_env or secret_file is missing`)
    }
    const secret = around.findSecret(read, where)
    if (secret !== undefined && !isSecret(secret)) {
      problems.push(`${where}: its secret must be whsec_ and 24 to 64 bytes in base64`)
    }
    return { ...rest, secret }
  })
  refuseTwice('webhooks', webhooks, problems)
  return webhooks
}

/** As receivers' libraries take it. */
function isSecret(secret: string): boolean {
  const body = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret)?.[1] ?? ''
  const { length } = Buffer.from(body, 'base64')
  return length >= 24 && length <= 64
}
