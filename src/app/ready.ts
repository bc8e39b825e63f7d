import { readySelf } from '../access/keys/api/self.ts'
import { statusText } from '../front/status/api.ts'
import { modelsText } from '../models/api.ts'
import { signerText } from '../proof/signer/api.ts'
import { openHeaders } from '../web/http/methods.ts'
import { type Ready, sameForAll } from '../web/http/ready.ts'
import type { Deps } from './deps-port.ts'

const alive = JSON.stringify({ status: 'ok' })

/** What supervisors and clients read again and again, as its routes answer it. */
export const readyReads = (deps: Deps): Ready[] => [
  sameForAll('/livez', {}, () => alive),
  sameForAll('/v1/models', openHeaders, () => modelsText(deps)),
  sameForAll('/v1/signer', openHeaders, () => signerText(deps)),
  sameForAll('/v1/status', openHeaders, () => statusText(deps)),
  readySelf(deps),
]
