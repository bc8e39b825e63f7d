/** Makes a wallet the first operator, in the configuration file of a running server. */
import { toAccountId } from '../../access/accounts/account.ts'
import { withAdmins } from '../../config/admins.ts'
import { readConfigText as readConfigOf } from '../../config/file.ts'
import { refuse } from '../../kernel/refusal.ts'
import { toChecksumAddress } from '../../verify/address.ts'
import { canReplace, readConfigText, replaceConfig } from '../providers/config-file.ts'
import { type DeskPlace, reloadWritten } from '../providers/write-change.ts'
import type { ReloadResult } from '../reload-port.ts'
import type { ClaimedLink, SetupDesk } from './desk-port.ts'

export const openSetupDesk = (place: DeskPlace): SetupDesk => ({
  look: (account) => ({
    path: place.path,
    isWritable: canReplace(place.path),
    line: lineOf(account),
    command: `counterfoil admin grant ${toChecksumAddress(account)}`,
    hasOthers: !place.config.database_url.startsWith('sqlite:'),
  }),
  claim: (account, link) => claim(place, account, link),
})

const lineOf = (account: string): string => `admins = ["${toChecksumAddress(account)}"]`

async function claim(place: DeskPlace, account: string, link: ClaimedLink): Promise<ReloadResult> {
  const { path, flags } = place
  const text = readConfigText(path)
  if (adminsIn(flags, text, path).length > 0) {
    refuse('conflict', 'This service has an operator already. Nothing was changed.')
  }
  const fresh = withAdmins(text, [toChecksumAddress(account)])
  if (fresh === undefined || !canReplace(path)) return refuseByHand(path, account)
  if (!adminsIn(flags, fresh, path).includes(account)) {
    refuse('conflict', `The operators are set outside of ${path}: change them there.`)
  }
  if (!(await link.take())) {
    refuse('conflict', 'Another wallet has used a set-up link just now. Nothing was changed.')
  }
  try {
    replaceConfig(path, fresh, text)
  } catch {
    // The disk that is full may hold the database as well: another link can be printed.
    await link.giveBack().catch(() => {})
    return refuseByHand(path, account)
  }
  return reloadWritten(place)
}

/** @throws Refusal 'conflict' for a configuration with errors */
function adminsIn(flags: Record<string, unknown>, text: string, path: string): string[] {
  const loaded = readConfigOf(flags, text)
  if ('config' in loaded) return loaded.config.admins.map(toAccountId)
  return refuse('conflict', `${path} has an error: ${loaded.problems[0]}. Nothing was changed.`)
}

const refuseByHand = (path: string, account: string): never =>
  refuse(
    'conflict',
    `This server cannot change ${path}. Set this line there by hand, above its first table, and ` +
      `send the server a SIGHUP: ${lineOf(account)}`,
  )
