/** Signs requests by AWS Signature Version 4. */
import { AwsV4Signer } from 'aws4fetch'
import type { Clock } from '../../kernel/clock.ts'
import type { AwsKey } from './credentials.ts'
import type { RequestSigner } from './signer.ts'

export type AwsPlace = {
  key: AwsKey
  region: string
  service: string
  clock: Pick<Clock, 'now'>
}

/** Only the host, the time and the session are signed: proxies may change other headers. */
export function awsSigner({ key, region, service, clock }: AwsPlace): RequestSigner {
  const cache = new Map<string, ArrayBuffer>()
  return {
    async headersFor({ method, url, body }) {
      const datetime = new Date(clock.now()).toISOString().replace(/[:-]|\.\d{3}/g, '')
      // One derived key a day.
      if (cache.size > 2) cache.clear()
      const place = { region, service, datetime, cache }
      const signer = new AwsV4Signer({ method, url, body: body ?? null, ...key, ...place })
      const { headers } = await signer.sign()
      return Object.fromEntries(headers as unknown as Iterable<[string, string]>)
    },
    refused: () => {},
    secrets: () => Object.values(key),
  }
}
