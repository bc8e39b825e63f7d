/** The refusal of a server whose database a newer version has changed. */
import { Refusal } from '../../kernel/refusal.ts'
import type { Health } from './health-port.ts'

/** `unavailable`, reason `schema`; undefined while this build knows the schema. */
export function foreignSchema({ schema }: Pick<Health, 'schema'>): Refusal | undefined {
  if (schema !== 'foreign') return undefined
  const message =
    'The database was migrated by a newer version that this server does not know. Nothing was ' +
    'stored or charged. Another server takes the request; the operator replaces this one.'
  const headers = { 'retry-after': '5' }
  return new Refusal('unavailable', { message, metadata: { reason: 'schema' }, headers })
}
