import { build } from './build.ts'
import { demo } from './demo.ts'
import { deposits } from './deposits.ts'
import { explorer } from './explorer.ts'
import { holes } from './holes.ts'
import { keyless } from './keyless.ts'
import { keys } from './keys.ts'
import { members } from './members.ts'
import { metering } from './metering.ts'
import { money } from './money.ts'
import { pages } from './pages.ts'
import { peers } from './peers.ts'
import { receipts } from './receipts.ts'
import type { Group } from './row.ts'
import { servers } from './servers.ts'
import { shards } from './shards.ts'
import { signIn } from './sign-in.ts'
import { signer } from './signer.ts'
import { start } from './start.ts'
import { storage } from './storage.ts'
import { streams } from './streams.ts'
import { upstreams } from './upstreams.ts'
import { webhooks } from './webhooks.ts'
import { witnesses } from './witnesses.ts'

/** All promises, in the order of the page. */
export const groups: readonly Group[] = [
  keys,
  signIn,
  members,
  pages,
  money,
  metering,
  streams,
  upstreams,
  peers,
  holes,
  webhooks,
  deposits,
  receipts,
  signer,
  witnesses,
  explorer,
  keyless,
  storage,
  servers,
  shards,
  start,
  demo,
  build,
]
