import type { Deps } from './deps.ts'
import { openHeaders } from './http/methods.ts'
import type { Ready } from './http/ready.ts'
import { modelsText } from './models/api.ts'
import { signerText } from './signer/api.ts'
import { statusText } from './status/api.ts'

const alive = JSON.stringify({ status: 'ok' })

/** What supervisors and clients read again and again, as its routes answer it. */
export const readyReads = (deps: Deps): Ready[] => [
  { path: '/livez', headers: {}, text: () => alive },
  { path: '/v1/models', headers: openHeaders, text: () => modelsText(deps) },
  { path: '/v1/signer', headers: openHeaders, text: () => signerText(deps) },
  { path: '/v1/status', headers: openHeaders, text: () => statusText(deps) },
]
